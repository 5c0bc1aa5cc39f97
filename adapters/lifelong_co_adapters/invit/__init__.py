"""INViT (Fang et al. 2024), implemented here without the official code."""
