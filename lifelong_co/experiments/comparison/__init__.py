"""Runs compared: tables, figures, a page."""
