"""Neural routing solvers behind one protocol."""
