"""The ``lifelong-co`` command line."""
