"""What methods share that hold parameters back."""
