"""Texts of TSPLIB and CVRPLIB files, and their reading."""

from pathlib import Path

from paths import FIXTURES

from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.vrplib_instances import read_instance

TSP_TEXT = (FIXTURES / "five.tsp").read_text()
VRP_TEXT = (FIXTURES / "four.vrp").read_text()
EXPLICIT = """NAME: m
TYPE: TSP
DIMENSION: 3
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FORMAT
EDGE_WEIGHT_SECTION
WEIGHTS
DISPLAY_DATA_SECTION
1 0 0
2 10 0
3 0 10
EOF
"""
"""Distances in a section; a test puts in their format and themselves."""


def read_text(folder: Path, text: str) -> FileInstance:
    """Read an instance from its text."""
    path = folder / "given.vrp"
    path.write_bytes(text.encode())
    return read_instance(path)
