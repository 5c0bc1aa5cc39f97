"""Reading and writing on disk: whole files, trees of tensors, TOML, checkpoints."""
