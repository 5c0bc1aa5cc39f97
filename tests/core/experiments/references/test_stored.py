"""Published references that are damaged."""

import io
import zipfile

import numpy as np
import pytest
from synthetic_references import published, squares

from lifelong_co import registry
from lifelong_co.errors import FileFormatError
from lifelong_co.experiments.references import lookup
from lifelong_co.experiments.references.stored import stored

TSP = registry.problem("tsp")


def archive_with_shape(count):
    """Return an archive whose costs state a shape that no memory holds."""
    header, archive = io.BytesIO(), io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("reference_cost.npy", header.getvalue() + bytes(8))
    return archive.getvalue()


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
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("reference_cost.npy", whole * 9)
    packed = file.read_bytes()
    torn = packed[:60] + bytes(8) + packed[68:]
    for content in (torn, archive_with_shape(10**15)):
        file.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: expected instances"):
            lookup.references([tmp_path], TSP, squares(3), "U")
    file.unlink()
    (tmp_path / "TSPinstances_uniform_20_x_solution").mkdir()
    (tmp_path / "TSPinstances_U_20_x_solution").mkdir()
    with pytest.raises(FileFormatError, match=r"solution: cannot be read"):
        stored(tmp_path, TSP, "U", 20)


def test_lines_are_those_of_the_size_in_the_name(tmp_path):
    """Line by line they belong to the test set, which has one size."""
    lines = "".join(f"0,1,2 {cost} 1.0\n" for cost in (4.5, 5.5))
    (tmp_path / "TSPinstances_U_100_2_seed0_solution").write_text(lines.replace("5", "9"))
    assert stored(tmp_path, TSP, "U") is None
    (tmp_path / "TSPinstances_U_20_2_seed0_solution").write_text(lines)
    for size in (None, 20):
        assert stored(tmp_path, TSP, "U", size).costs == [4.5, 5.5]
    assert stored(tmp_path, TSP, "U", 100) is None


def test_fields_that_need_not_be_there_are_read(tmp_path):
    """Costs of another distance are no references of the same coordinates."""
    made = published(tmp_path, [4.1, 2.2])
    nodes, costs = made.nodes.numpy(), np.array([9.0, 5.0])
    np.savez(tmp_path / "tsp-U4.npz", nodes=nodes, reference_cost=costs, distance="manhattan")
    assert lookup.references([tmp_path], TSP, made, "U") == [None, None]
    other = TSP.instances(nodes=made.nodes, distance="manhattan")
    found = lookup.references([tmp_path], TSP, other, "U")
    assert [each.cost for each in found] == [9.0, 5.0]


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1.0])
def test_cost_that_is_no_cost_is_refused(cost, tmp_path):
    """A reference of NaN would make every gap NaN."""
    published(tmp_path, [4.1, cost, 1.5])
    with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: .*costs of at least 0, got"):
        lookup.references([tmp_path], TSP, squares(3), "U")
