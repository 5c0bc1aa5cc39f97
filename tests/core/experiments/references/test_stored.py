"""Published references that are damaged."""

import pytest
from synthetic_references import published, squares

from lifelong_co import registry
from lifelong_co.errors import FileFormatError
from lifelong_co.experiments.references import lookup

TSP = registry.problem("tsp")


def test_a_torn_archive_is_named(tmp_path):
    """A copy that broke off, wherever; and a folder where a file should be."""
    published(tmp_path, [4.1, 2.2, 1.5])
    file = tmp_path / "tsp-U4.npz"
    whole = file.read_bytes()
    for kept in (0, 3, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:kept])
        with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: expected instances"):
            lookup.references([tmp_path], TSP, squares(3), "U")
    file.write_bytes(whole[:60] + b"torn" + whole[64:])
    with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: expected instances"):
        lookup.references([tmp_path], TSP, squares(3), "U")
    place = whole.index(b"PK\x01\x02")  # the entry of the first array in the archive's directory
    for field, value in ((8, b"\x01"), (10, b"\x63")):  # encrypted; an unknown compression
        at = place + field
        file.write_bytes(whole[:at] + value + whole[at + 1 :])
        with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: expected instances"):
            lookup.references([tmp_path], TSP, squares(3), "U")
    file.unlink()
    (tmp_path / "TSPinstances_uniform_x_solution").mkdir()
    (tmp_path / "TSPinstances_U_x_solution").mkdir()
    with pytest.raises(FileFormatError, match=r"solution: cannot be read"):
        lookup.references([tmp_path], TSP, squares(3), "U")


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1.0])
def test_cost_that_is_no_cost_is_refused(cost, tmp_path):
    """A reference of NaN would make every gap NaN."""
    published(tmp_path, [4.1, cost, 1.5])
    with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: .*costs of at least 0, got"):
        lookup.references([tmp_path], TSP, squares(3), "U")
