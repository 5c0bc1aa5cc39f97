"""Omni (Zhou et al. 2023): POMO's network with meta-learned parameters and other normalisations."""
