"""Objectives: the losses that a solver learns by."""
