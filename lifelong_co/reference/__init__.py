"""Near-optimal costs: solved by PyVRP and OR-Tools, kept in a cache, compared with test costs."""
