"""Weightings ``w(e)``: how much an experience matters (paper §3.2, CaEW)."""
