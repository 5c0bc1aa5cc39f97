"""Divergences ``D(e)`` between teacher and learner in one state (paper §3.3)."""
