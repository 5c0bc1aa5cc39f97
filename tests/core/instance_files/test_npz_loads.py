"""Loads in fractions of the capacity, and in its unit; `test_pool.py` has faults of integers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lifelong_co as lco
from lifelong_co.errors import FileFormatError
from lifelong_co.instance_files.npz import read
from lifelong_co.instance_files.npz_loads import fractions
from lifelong_co.problems.cvrp import CVRP

DRAWN = np.random.default_rng(0)


def saved(folder: Path, **arrays: Any) -> Path:
    """Write an .npz file."""
    np.savez(folder / "given.npz", **arrays)
    return folder / "given.npz"


@pytest.mark.parametrize("capacity", [30, 30.0, [30]])
def test_whole_floats_above_1_are_loads(capacity: Any) -> None:
    """As pandas makes of integers; as a fraction, 2 would be above the capacity."""
    loads = np.array([[2.0, 1.0, 0.0]])
    found = fractions(Path("a.npz"), "demand", loads, np.array(capacity))
    np.testing.assert_allclose(found, loads / 30)
    with pytest.raises(FileFormatError, match=r"a\.npz: demand: .* a scalar 'capacity'"):
        fractions(Path("a.npz"), "demand", loads, None)


def test_error_names_the_place() -> None:
    """Instances and customers count from 1."""
    loads = np.array([[0.0, 0.1], [0.1, 0.25]])
    with pytest.raises(FileFormatError, match=r"got 0\.25 as float64 \(instance 2, customer 2\)"):
        fractions(Path("a.npz"), "pickup", loads, np.array(10))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_whole_loads_that_are_no_integers_are_refused(kind: type, tmp_path: Path) -> None:
    """Ones may be single units or full loads; fractions of the capacity are clear."""
    places = {"depot": np.zeros((1, 1, 2)), "nodes": DRAWN.random((1, 3, 2)), "capacity": 10}
    loads = np.array([[1.0, 1.0, 0.0]], dtype=kind)
    for capacity in (10, "ten"):
        given = {**places, "capacity": capacity, "demand": loads}
        with pytest.raises(FileFormatError, match=r"demand: .*: convert demand to integers"):
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


def test_fine_loads_exceed_no_capacity(tmp_path: Path) -> None:
    """Four loads of a quarter and a little more: the tolerance of the masks would take them."""
    places = {"depot": np.zeros((1, 1, 2)), "nodes": DRAWN.random((1, 4, 2))}
    for capacity, fits in ((1_000_000, False), (1_000_100, True)):
        given = {"demand": np.full((1, 4), 250_002), "capacity": capacity}
        parts = {**given, "demand": given["demand"] / capacity}
        for loads in (given, parts):
            batch = read(saved(tmp_path, **places, **loads), CVRP())
            state = CVRP().reset(batch, 1)
            for customer in (0, 1, 2, 3):
                state = CVRP().step(batch, state, torch.tensor([[customer]]))
            assert bool(CVRP().feasible(batch, state)[0, 0, 4]) is fits


def test_full_fine_loads_are_read(tmp_path: Path) -> None:
    """A demand and a pickup of the whole capacity."""
    places = {"depot": np.zeros((1, 1, 2)), "nodes": DRAWN.random((1, 2, 2)), "capacity": 100_000}
    given = {"demand": np.array([[100_000, 0]]), "pickup": np.array([[0, 100_000]])}
    batch = read(saved(tmp_path, **places, **given), lco.problem("mtvrp"))
    assert batch.pickup[0, 1] == batch.demand[0, 0] > 1


def test_fractions_beside_a_capacity_for_each_instance_are_read(tmp_path: Path) -> None:
    """Each load is a whole part of the capacity of its instance."""
    places = {"depot": np.zeros((2, 1, 2)), "nodes": DRAWN.random((2, 2, 2))}
    given: dict[str, Any] = {**places, "demand": np.array([[0.5, 1.0], [0.3, 0.1]])}
    batch = read(saved(tmp_path, **given, capacity=np.array([2, 10])), CVRP())
    np.testing.assert_allclose(batch.demand, given["demand"], rtol=1e-6)
    with pytest.raises(FileFormatError, match=r"got 0\.5 as float64"):
        read(saved(tmp_path, **given, capacity=np.array([3, 10])), CVRP())
