"""POMO (Kwon et al. 2020), implemented here without the official code."""
