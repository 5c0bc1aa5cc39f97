"""Arrays of any problem's instances; `test_pool.py` has the faults of the CVRP's."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import torch
from torch import Tensor

from lifelong_co.errors import FileFormatError, LifelongError
from lifelong_co.instance_files.npz import fields, read
from lifelong_co.instance_files.pool import load_instances
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


def test_scaling_of_what_is_no_number_is_refused(tmp_path: Path) -> None:
    """The error names the field."""
    with pytest.raises(FileFormatError, match="nodes: expected numbers, got <U1"):
        read(saved(tmp_path, nodes=np.array([["a"]])), TSP(), scale=True)
    for kind in ("complex128", "timedelta64[s]"):
        nodes = np.ones((1, 3, 2)).astype(kind)
        with pytest.raises(FileFormatError, match=r"nodes: expected numbers, got [ct]"):
            read(saved(tmp_path, nodes=nodes), TSP(), scale=True)
        with pytest.raises(LifelongError, match=r"nodes: expected .*"):
            read(saved(tmp_path, nodes=nodes), TSP())


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


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_coordinate_that_is_not_finite_is_named_before_scaling(
    wrong: float, tmp_path: Path
) -> None:
    """Scaling would spread it over all coordinates of its instance, the depot's included."""
    nodes = DRAWN.random((4, 5, 2)) * 9
    nodes[3, 2, 1] = wrong
    given = {"nodes": nodes, "depot": np.zeros((4, 1, 2)), "demand": np.full((4, 5), 0.1)}
    expected = rf"nodes: expected finite coordinates, got {wrong} \(instance 4, row 3\)"
    with pytest.raises(FileFormatError, match=expected):
        read(saved(tmp_path, **given), CVRP(), scale=True)


def test_wrong_value_is_shown_as_in_the_file(tmp_path: Path) -> None:
    """Scaled windows and loads are also shown in the unit of the file, with their place."""
    given: dict[str, Any] = {"depot": np.zeros((2, 1, 2)), "nodes": DRAWN.random((2, 4, 2)) * 50}
    given["nodes"][:, 0] = 100
    given |= {"demand": np.full((2, 4), 3), "capacity": 30}
    windows = np.tile([0.0, 400.0], (2, 4, 1))
    windows[1, 2] = (60, 40)
    timed = {"windows": windows, "horizon": np.full(2, 900.0)}
    with pytest.raises(
        FileFormatError,
        match=r"windows: .*got 0\.6, 0\.4 \(instance 2, customer 3\); in the file: 60, 40$",
    ):
        load_instances(saved(tmp_path, **given, **timed), MTVRP(), scale=True)
    given["demand"][0, 1] = -2
    with pytest.raises(
        FileFormatError,
        match=r"demand: expected at least 0, .* \(instance 1, customer 2\); in the file: -2$",
    ):
        load_instances(saved(tmp_path, **given), CVRP(), scale=True)
    with pytest.raises(FileFormatError, match=r"square, got .* 100 \(first in instance 1, row 1\)"):
        load_instances(saved(tmp_path, **given), CVRP())


@pytest.mark.parametrize("scale", [False, True])
def test_file_without_instances_is_refused(scale: bool, tmp_path: Path) -> None:
    """The shape fits, so the error says what is missing."""
    path = saved(tmp_path, nodes=np.zeros((0, 8, 2)))
    with pytest.raises(FileFormatError, match=r"nodes: expected at least one instance, got none"):
        read(path, TSP(), scale=scale)
