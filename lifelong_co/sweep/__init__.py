"""A grid of runs, carried out as many at once as there is room for, that ends in one table."""
