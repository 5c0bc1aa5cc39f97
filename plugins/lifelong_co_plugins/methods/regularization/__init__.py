"""What regularization methods share: Fisher information and exemplars."""
