"""Runs: building, saving and resuming them, warm starts, several processes."""
