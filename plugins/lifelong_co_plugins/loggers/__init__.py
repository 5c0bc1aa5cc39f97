"""Loggers: where the losses and costs of a run go besides its folder's files."""
