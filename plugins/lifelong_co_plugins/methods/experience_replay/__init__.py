"""What methods share that replay experiences."""
