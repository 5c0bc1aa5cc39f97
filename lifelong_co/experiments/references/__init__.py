"""Near-optimal costs by PyVRP and OR-Tools."""
