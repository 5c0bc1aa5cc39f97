"""What methods share that replay instances."""
