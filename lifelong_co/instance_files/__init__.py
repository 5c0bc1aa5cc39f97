"""Instance files (CVRPLIB, TSPLIB, ``.npz``): reading and solving them, writing solutions."""
