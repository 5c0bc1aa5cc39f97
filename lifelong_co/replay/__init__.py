"""What every method that replays needs: experiences, buffers, the consolidation loss."""
