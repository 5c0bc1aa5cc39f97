"""The paper's tables and figures, of runs of one's own."""
