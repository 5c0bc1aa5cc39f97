"""Omni: POMO's network from a meta-learned start, with a choice of normalisations."""
