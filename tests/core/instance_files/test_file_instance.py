"""Distances, costs and the form for networks; `test_vrplib_instances.py` has the rounded rules."""

import numpy as np
import pytest
import torch
from paths import FIXTURES

from lifelong_co.errors import ConfigError, LifelongError
from lifelong_co.instance_files.file_instance import (
    FileInstance,
    cost,
    distance_matrix,
    legs,
    to_instances,
)
from lifelong_co.instance_files.formats import read_file
from lifelong_co.problems.atsp import ATSP
from lifelong_co.problems.tsp import TSP

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.5, 0.0]])


def test_distances_without_rounding_are_floats() -> None:
    """The cost is their sum, and equals that of the matrix."""
    one = FileInstance("square", "tsp", SQUARE, None, None, "UNROUNDED")
    tour = np.array([0, 1, 2, 3])
    expected = 1 + 1 + np.hypot(0.5, 1) + 1.5
    assert cost(one, tour) == pytest.approx(expected)
    assert distance_matrix(one)[tour, np.roll(tour, -1)].sum() == pytest.approx(expected)
    assert legs(one, tour).tolist() == pytest.approx([1, 1, np.hypot(0.5, 1), 1.5])


def test_rounded_costs_are_integers() -> None:
    """As the libraries publish them."""
    one = FileInstance("square", "tsp", SQUARE, None, None, "CEIL_2D")
    assert repr(cost(one, [0, 1, 2, 3])) == "6"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"distance_rule": "GEO"}, "Unknown distance rule 'GEO'"),
        ({"coordinates": SQUARE[:, 0]}, r"bad: coordinates: expected finite numbers \[A, 2\]"),
        ({"coordinates": SQUARE * np.nan}, r"bad: coordinates: expected finite numbers"),
        ({"coordinates": SQUARE.tolist()}, r"bad: coordinates: expected finite numbers"),
        ({"coordinates": SQUARE.astype(str)}, r"bad: coordinates: expected finite numbers"),
        (
            {"coordinates": SQUARE[:, :0]},
            r"bad: weights: expected finite distances \[4, 4\], got None",
        ),
        (
            {"distance_rule": "EXPLICIT"},
            r"bad: weights: expected finite distances \[4, 4\], got None",
        ),
        ({"coordinates": SQUARE * 1j}, r"bad: coordinates: expected finite numbers"),
        ({"weights": np.ones((4, 4)) * 1j}, r"bad: weights: expected finite distances"),
        (
            {"demand": np.array([2**63] * 3, np.uint64), "capacity": 3},
            "bad: demand: expected 3 int",
        ),
        ({"weights": np.full((4, 4), np.nan)}, r"bad: weights: expected finite distances"),
        (
            {"weights": np.ones((3, 3))},
            r"bad: weights: expected finite distances \[4, 4\], got array",
        ),
        ({"demand": np.array([1, 1, 1])}, "bad: expected demand and capacity beside each other"),
        ({"demand": np.array([1, 1]), "capacity": 3}, "bad: demand: expected 3 integers"),
        ({"demand": [1, 1, 1], "capacity": 3}, "bad: demand: expected 3 integers"),
        ({"demand": np.array([0] * 3), "capacity": 0}, "bad: capacity: expected an integer of at"),
        ({"demand": np.array([1] * 3), "capacity": 1.5}, "bad: capacity: expected an integer of"),
        ({"demand": np.array([0.6] * 3), "capacity": 1}, "bad: demand: expected 3 integers"),
        ({"demand": np.array([1, 4, 1]), "capacity": 3}, "bad: demand: expected at most the cap"),
    ],
)
def test_instance_of_a_plugin_that_is_none_is_refused(fields, said) -> None:
    """Its costs would be those of another rule, or of another instance."""
    usual = {"coordinates": SQUARE, "demand": None, "capacity": None, "distance_rule": "EUC_2D"}
    with pytest.raises(LifelongError, match=said):
        FileInstance("bad", "cvrp", **{**usual, **fields})


def test_matrix_without_coordinates_keeps_its_direction() -> None:
    """The network sees distances divided by the largest one; costs are those of the file."""
    one = read_file(FIXTURES / "four.atsp")
    assert (one.problem, one.size, one.best_known) == ("atsp", 4, 10)
    assert (cost(one, [0, 1, 2, 3]), cost(one, [3, 2, 1, 0])) == (10, 36)
    batch = to_instances(one, ATSP())
    assert batch.matrix.shape == (1, 4, 4)
    torch.testing.assert_close(batch.matrix[0] * 9, torch.as_tensor(distance_matrix(one)).float())
    with pytest.raises(ConfigError, match="expected an instance of tsp, got one of atsp"):
        to_instances(one, TSP())


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.float16, np.float32, np.int64])
@pytest.mark.parametrize("rule", ["EUC_2D", "UNROUNDED"])
def test_narrow_numbers_of_a_plugin_do_not_overflow(kind, rule) -> None:
    """A reader may keep the type of its file; the cost is that of float64."""
    points = np.array([[0, 0], [200, 0], [200, 150]])
    instance = FileInstance("a", "tsp", points.astype(kind), None, None, rule)
    assert cost(instance, [0, 1, 2]) == 600
    listed = np.array([[0, 200, 250], [200, 0, 150], [250, 150, 0]])
    whole = kind if np.issubdtype(kind, np.integer) else np.uint8
    fields = (None, None, "EXPLICIT", None, listed.astype(whole))
    assert cost(FileInstance("b", "tsp", points, *fields), [0, 1, 2]) == 600
    exact = points.astype(np.float64)
    assert FileInstance("c", "tsp", exact, None, None, rule).coordinates is exact, "not copied"
