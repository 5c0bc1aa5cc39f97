"""Neural routing solvers with one interface, `lifelong_co.protocols.Solver`."""
