"""Lifelong learning for neural routing solvers."""
