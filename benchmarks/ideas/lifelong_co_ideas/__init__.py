"""Methods that were tried and dropped, for the study ``ideas.toml``."""
