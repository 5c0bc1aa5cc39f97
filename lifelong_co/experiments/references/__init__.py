"""References: near-optimal costs of instances, found by PyVRP and OR-Tools or published."""
