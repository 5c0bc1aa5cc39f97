"""Distances that a file lists: what is read, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from library_texts import EXPLICIT, read_text

from lifelong_co.errors import FileFormatError
from lifelong_co.instance_files.explicit_distances import unit_of
from lifelong_co.instance_files.file_instance import cost, distance_matrix, to_instances
from lifelong_co.problems.tsp import TSP


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        ("LOWER_ROW", "1\n2 4"),
        ("LOWER_ROW", "1 2\n4"),
        ("FULL_MATRIX", "0 1\n2\n1 0\n4\n2 4\n0"),  # as in TSPLIB's br17
        ("FULL_MATRIX", "0 1 2 1 0\n4 2 4 0"),  # as in ftv33
        ("FULL_MATRIX", "0 1 2\n1 0 4\n2 4 0"),
        ("FULL_MATRIX", "9999 1 2\n1 9999 4\n2 4 9999"),  # 9999 must not count in any cost
    ],
)
def test_explicit_distances_give_the_costs(form: str, rows: str, tmp_path: Path) -> None:
    """Costs are sums of the stated distances; networks get the coordinates."""
    read = read_text(tmp_path, EXPLICIT.replace("FORMAT: FORMAT", f"FORMAT: {form}").replace(
        "WEIGHTS", rows
    ))  # fmt: skip
    assert cost(read, [0, 1, 2]) == 1 + 4 + 2
    assert distance_matrix(read).tolist() == [[0, 1, 2], [1, 0, 4], [2, 4, 0]]
    assert to_instances(read, TSP()).nodes.tolist() == [[[0, 0], [1, 0], [0, 1]]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("DISPLAY_DATA_SECTION\n1 0 0\n2 10 0\n3 0 10\n", "", "without .*TYPE: ATSP"),
        ("FULL_MATRIX", "UPPER_ROW", "EDGE_WEIGHT_FORMAT: UPPER_ROW is not supported"),
        ("2 4 0", "2 5 0", "EDGE_WEIGHT_SECTION: expected symmetric distances"),
        ("0 1 2\n1 0 4", "0 1.5 2\n1.5 0 4", "EDGE_WEIGHT_SECTION: expected whole numbers"),
        ("2 4 0", "2 4", "EDGE_WEIGHT_SECTION: expected 9 distances, got 8"),
        ("2 4 0", "2 4 0 0", "EDGE_WEIGHT_SECTION: expected 9 distances, got 10"),
        ("2 4 0", "2 4 x", "EDGE_WEIGHT_SECTION: expected numbers .*'x'"),
    ],
)
def test_unusable_explicit_distances_are_refused(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    """No coordinates, another format, or distances that are no whole symmetric matrix."""
    text = EXPLICIT.replace("FORMAT: FORMAT", "FORMAT: FULL_MATRIX")
    text = text.replace("WEIGHTS", "0 1 2\n1 0 4\n2 4 0")
    assert text.count(old) == 1
    with pytest.raises(FileFormatError, match=message):
        read_text(tmp_path, text.replace(old, new))


def test_stated_size_takes_no_memory(tmp_path: Path) -> None:
    """The distances are counted before there is a matrix."""
    text = (
        "NAME: m\nTYPE: ATSP\nDIMENSION: 100000000\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        "EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n1 2 3\nEOF\n"
    )
    with pytest.raises(FileFormatError, match=f"expected {10**16} distances, got 3"):
        read_text(tmp_path, text)


def test_unit_of_listed_distances_is_that_of_most_roads() -> None:
    """One closed road does not change it; places that are all the same have no unit."""
    points = np.random.default_rng(0).random((12, 2))
    listed = np.rint(300 * np.linalg.norm(points[:, None] - points, axis=2)).astype(np.int64)
    assert unit_of(listed, points) == pytest.approx(300, rel=0.01)
    listed[3, 4] = listed[4, 3] = 1_000_000
    assert unit_of(listed, points) == pytest.approx(300, rel=0.01)
    assert unit_of(np.tile(listed, (60, 60)), np.tile(points, (60, 1))) == pytest.approx(
        300, rel=0.01
    )
    for places in (np.ones((12, 2)), points):
        assert unit_of(0 * listed, places) == 1.0
