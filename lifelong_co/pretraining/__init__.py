"""Meta-training: it finds parameters from which a solver adapts to a task in a few steps."""
