"""Weightings ``w(e)`` of experiences in the consolidation loss (paper §3.2, CaEW)."""
