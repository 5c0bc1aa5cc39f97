"""Meta-training: parameters from which a solver adapts to any task of a family in a few steps."""
