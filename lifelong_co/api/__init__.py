"""What the commands do, as functions for a notebook or a script."""
