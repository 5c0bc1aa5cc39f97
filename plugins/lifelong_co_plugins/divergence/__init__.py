"""Divergences ``D(e)``: how far the learner is from the teacher in one state (paper §3.3)."""
