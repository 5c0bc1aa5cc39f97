"""Instance files: CVRPLIB, TSPLIB and ``.npz``, solved and written."""
