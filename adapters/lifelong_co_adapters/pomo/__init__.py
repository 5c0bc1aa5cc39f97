"""POMO (Kwon et al. 2020), our own implementation."""
