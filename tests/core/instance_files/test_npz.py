"""Arrays of any problem's instances; `test_pool.py` has the faults of the CVRP's."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import torch
from torch import Tensor

from lifelong_co.errors import FileFormatError
from lifelong_co.instance_files.npz import fields, read
from lifelong_co.problems.atsp import ATSP
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.tsp import TSP
from lifelong_co.protocols import Problem

DRAWN = np.random.default_rng(0)


def saved(folder: Path, **arrays: Any) -> Path:
    """Write an .npz file."""
    np.savez(folder / "given.npz", **arrays)
    return folder / "given.npz"


def test_fields_are_those_of_the_instances() -> None:
    """A field is required if the problem cannot do without."""
    assert fields(TSP()) == {"nodes": True, "distance": False}
    assert fields(CVRP()) == {"depot": True, "nodes": True, "demand": True, "distance": False}
    found = fields(MTVRP())
    assert [name for name, needed in found.items() if needed] == ["depot", "nodes", "demand"]
    assert "windows" in found
    assert fields(ATSP()) == {"matrix": True}


def test_problem_of_a_plugin_is_read(tmp_path: Path) -> None:
    """By the fields of its record."""

    @attrs.frozen(eq=False)
    class Prizes:
        nodes: Tensor
        prize: Tensor

    class Other(TSP):
        instances_type = Prizes  # type: ignore[misc]

        def instances(self, **given: Any) -> Any:
            return Prizes(**{name: torch.as_tensor(value) for name, value in given.items()})

    path = saved(tmp_path, nodes=DRAWN.random((2, 4, 2)), prize=DRAWN.random((2, 4)))
    batch = read(path, Other())
    assert batch.prize.dtype == batch.nodes.dtype == torch.float32
    with pytest.raises(FileFormatError, match="prize: expected an array of this name, got nodes"):
        read(saved(tmp_path, nodes=DRAWN.random((2, 4, 2))), Other())


@pytest.mark.parametrize(
    ("problem", "others", "expected"),
    [
        (MTVRP(), {"window": 1}, r"window: .* of mtvrp \(depot, nodes, demand, pickup, windows, .*"
         r"open, capacity\), got this as well"),
        (CVRP(), {"windows": 1, "service": 1}, r"windows, service: .* of cvrp \(.*\), got these"),
        (TSP(), {}, r"depot, demand, capacity: .* the arrays of tsp \(nodes, distance\)"),
    ],
)  # fmt: skip
def test_arrays_that_no_instance_has_are_refused(
    problem: Problem, others: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """Nothing that could be a constraint vanishes; what published test sets have may stay."""
    given = {"depot": np.zeros((2, 1, 2)), "nodes": DRAWN.random((2, 4, 2))}
    given |= {"demand": np.ones((2, 4), dtype=int), "capacity": np.array(9)}
    with pytest.raises(FileFormatError, match=rf"given\.npz: {expected}"):
        read(saved(tmp_path, **given, **others), problem)
    beside = {"reference_cost": np.ones(2), "demand_stored": np.ones((2, 4))}
    assert len(read(saved(tmp_path, **given, **beside), CVRP()).nodes) == 2


def test_distance_is_named_by_a_text(tmp_path: Path) -> None:
    """As in `Problem.instances`."""
    nodes = DRAWN.random((2, 4, 2))
    batch = read(saved(tmp_path, nodes=nodes, distance=np.array("manhattan")), TSP())
    assert batch.distance.tolist() == [1, 1]
    assert read(saved(tmp_path, nodes=nodes), TSP()).distance is None


@pytest.mark.parametrize("problem", [CVRP(), MTVRP()])
def test_metres_are_scaled_into_the_unit_square(problem: Problem, tmp_path: Path) -> None:
    """Each instance by its longer side; a scaled instance of the unit square keeps its shape."""
    depot, nodes = DRAWN.random((3, 1, 2)), DRAWN.random((3, 6, 2))
    depot[:, 0], nodes[:, 0] = (0, 0), (1, 0.5)
    demand = DRAWN.integers(1, 5, (3, 6))
    given: dict[str, Any] = {"demand": demand, "capacity": 20}
    sides = np.array([10.0, 500.0, 80_000.0])[:, None, None]
    far = {"depot": depot * sides + 7, "nodes": nodes * sides + 7}
    unit = {"depot": depot, "nodes": nodes}
    if problem.name == "mtvrp":
        times = {"windows": np.stack((DRAWN.random((3, 6)), 5 + DRAWN.random((3, 6))), axis=2)}
        times |= {"service": DRAWN.random((3, 6)), "horizon": np.full(3, 9.0)}
        unit |= times
        far |= {"windows": times["windows"] * sides, "service": times["service"] * sides[..., 0]}
        far["horizon"] = times["horizon"] * sides[:, 0, 0]
    plain = read(saved(tmp_path, **unit, **given), problem)
    scaled = read(saved(tmp_path, **far, **given), problem, scale=True)
    for field in attrs.fields(problem.instances_type):
        expected, found = getattr(plain, field.name), getattr(scaled, field.name)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(FileFormatError, match=r"unit square.*scale = true"):
        read(saved(tmp_path, **far, **given), problem)
    whole = {name: array.astype(int) for name, array in far.items() if name in unit}
    with pytest.raises(FileFormatError, match=r"unit square.*the option scale"):
        read(saved(tmp_path, **{**far, **whole}, **given), problem)


def test_matrix_is_divided_by_its_largest_distance(tmp_path: Path) -> None:
    """There are no coordinates to scale by."""
    matrix = DRAWN.random((2, 4, 4)) * 900 * (1 - np.eye(4))
    batch = read(saved(tmp_path, matrix=matrix), ATSP(), scale=True)
    np.testing.assert_allclose(batch.matrix.amax(dim=(1, 2)), 1, rtol=1e-6)
    same = read(saved(tmp_path, matrix=np.zeros((1, 3, 3))), ATSP(), scale=True)
    assert (same.matrix == 0).all()
    filled = matrix + 9_999_999 * np.eye(4)  # what stands for a distance to itself
    again = read(saved(tmp_path, matrix=filled), ATSP(), scale=True)
    assert torch.equal(again.matrix, batch.matrix)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_whole_loads_that_are_no_integers_are_refused(kind: type, tmp_path: Path) -> None:
    """Ones may be single units or full loads; fractions of the capacity are clear."""
    places = {"depot": np.zeros((1, 1, 2)), "nodes": DRAWN.random((1, 3, 2)), "capacity": 10}
    loads = np.array([[1.0, 1.0, 0.0]], dtype=kind)
    for capacity in (10, "ten"):
        given = {**places, "capacity": capacity, "demand": loads}
        with pytest.raises(FileFormatError, match="demand: expected integers, or fractions"):
            read(saved(tmp_path, **given), CVRP())
    batch = read(saved(tmp_path, **places, demand=loads / 10), CVRP())
    assert batch.demand.tolist() == [pytest.approx([0.1, 0.1, 0.0])]
    assert (read(saved(tmp_path, **places, demand=0 * loads), CVRP()).demand == 0).all()


@pytest.mark.parametrize(("load", "capacity"), [(0.2, 3), (9.5, 30), (0.5, 12.5), (-0.05, 30)])
def test_loads_in_the_unit_of_the_capacity_are_refused(
    load: float, capacity: float, tmp_path: Path
) -> None:
    """Half a ton of three is no half of a load. The error names the number."""
    places = {"depot": np.zeros((1, 1, 2)), "nodes": DRAWN.random((1, 3, 2)), "capacity": capacity}
    loads = np.array([[0.0, 0.0, load]])
    with pytest.raises(FileFormatError, match=rf"demand: expected .*got {load:g}"):
        read(saved(tmp_path, **places, demand=loads), CVRP())


@pytest.mark.parametrize("capacity", [3, 30, 12345, 2_000_000])
def test_fractions_of_the_capacity_are_read_beside_it(capacity: int, tmp_path: Path) -> None:
    """In single precision, as in the official test sets."""
    places = {"depot": np.zeros((1, 1, 2)), "nodes": DRAWN.random((1, 3, 2)), "capacity": capacity}
    loads = np.array([[1, capacity // 2, capacity]])
    whole = read(saved(tmp_path, **places, demand=loads), CVRP())
    parts = read(saved(tmp_path, **places, demand=(loads / capacity).astype(np.float32)), CVRP())
    torch.testing.assert_close(parts.demand, whole.demand)


def test_fractions_beside_a_capacity_for_each_instance_are_read(tmp_path: Path) -> None:
    """Each load is a whole part of the capacity of its instance."""
    places = {"depot": np.zeros((2, 1, 2)), "nodes": DRAWN.random((2, 2, 2))}
    given: dict[str, Any] = {**places, "demand": np.array([[0.5, 1.0], [0.3, 0.1]])}
    batch = read(saved(tmp_path, **given, capacity=np.array([2, 10])), CVRP())
    np.testing.assert_allclose(batch.demand, given["demand"], rtol=1e-6)
    with pytest.raises(FileFormatError, match=r"got 0\.5 as float64"):
        read(saved(tmp_path, **given, capacity=np.array([3, 10])), CVRP())


def test_scaling_of_texts_is_refused(tmp_path: Path) -> None:
    """The error names the field."""
    with pytest.raises(FileFormatError, match="nodes: expected numbers, got <U1"):
        read(saved(tmp_path, nodes=np.array([["a"]])), TSP(), scale=True)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"nodes": np.zeros((3, 2))}, r"nodes: expected \[B, n, 2\], got \[3, 2\]"),
        (
            {"nodes": np.zeros((2, 3, 2)), "depot": np.zeros((2, 2)), "demand": np.ones((2, 3))},
            r"depot: expected \[B, n, 2\], got \[2, 2\]",
        ),
        (
            {"nodes": np.zeros((2, 3, 2)), "depot": np.zeros((1, 1, 2)), "demand": np.ones((2, 3))},
            "the same number of instances in all fields, got depot",
        ),
    ],
)
def test_scaling_of_other_shapes_is_refused(
    fields: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """The error names the field and its shape."""
    problem = CVRP() if "depot" in fields else TSP()
    with pytest.raises(FileFormatError, match=expected):
        read(saved(tmp_path, **fields), problem, scale=True)
