"""TSPLIB and CVRPLIB: the paper's instances and protocol, and any folder of such files."""
