"""TSPLIB and CVRPLIB."""
