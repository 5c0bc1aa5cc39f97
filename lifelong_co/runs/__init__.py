"""A run: built, saved, resumed, started from another, shared by processes."""
