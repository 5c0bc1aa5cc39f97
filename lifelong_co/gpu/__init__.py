"""What makes learning and decoding fast on a GPU: graphs, one pass, lower precision."""
