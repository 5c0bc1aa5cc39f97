"""What lies on a disk: whole files, trees of tensors, TOML, checkpoints."""
