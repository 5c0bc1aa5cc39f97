"""What happens after a run; only `api/` and the command line import it."""
