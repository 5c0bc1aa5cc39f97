"""Invented costs: matrices, and a run of two tasks as the learner records it."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tiny_runs import EPOCHS, tiny_config

from lifelong_co.runs.costs import Cost

CONFIG = tiny_config("fine-tuning", sizes=(5, 6))
MATRIX = [[4.0, 6.0], [5.0, 5.5]]
# Three tasks, d* = (10, 20, 40); gaps: (.2 .3 .5), (.5 .1 .25), (.1 .4 .05).
THREE = [[12.0, 26.0, 60.0], [15.0, 22.0, 50.0], [11.0, 28.0, 42.0]]


def matrices(least: int = 1) -> st.SearchStrategy[np.ndarray]:
    """Draw cost matrices of ``least`` to 6 tasks."""
    sizes = st.integers(least, 6)
    return sizes.flatmap(
        lambda k: hnp.arrays(np.float64, (k, k), elements=st.floats(0.5, 50, width=32))
    )


def costs(matrix: list[list[float]] = MATRIX) -> list[Cost]:
    """Return a test on the way and those after each task."""
    rows = [Cost(1, 1, 1, "U5", 9.0)]
    for i, row in enumerate(matrix, start=1):
        rows += [Cost(i, EPOCHS, j, f"U{4 + j}", cost) for j, cost in enumerate(row, start=1)]
    return rows
