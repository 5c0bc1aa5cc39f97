"""INViT (Fang et al. 2024), our own implementation."""
