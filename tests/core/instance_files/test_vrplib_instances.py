"""TSPLIB and CVRPLIB files: reading, refusing, scaling and costs."""

import math
from pathlib import Path

import attrs
import numpy as np
import pytest
import torch
from file_strategies import file_instances, file_texts, solved
from hypothesis import example, given, settings
from hypothesis import strategies as st
from library_texts import TSP_TEXT, VRP_TEXT, read_text
from paths import FIXTURES, ROOT

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.instance_files.file_instance import (
    FileInstance,
    InvalidSolutionError,
    cost,
    distance_matrix,
    to_instances,
)
from lifelong_co.instance_files.vrplib_instances import read_instance
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.tsp import TSP

OFFICIAL = ROOT.parent / "shared" / "official" / "instances"

PROBLEMS = {"tsp": TSP(), "cvrp": CVRP()}


def test_tsp_file_is_read() -> None:
    """A TSP file gives its name and coordinates, and no demand or capacity."""
    five = read_instance(FIXTURES / "five.tsp")
    assert (five.name, five.problem, five.size, five.distance_rule) == ("five", "tsp", 5, "EUC_2D")
    assert five.coordinates.dtype == np.float64
    assert five.coordinates.tolist() == [[0, 0], [0, 10], [10, 10], [10, 0], [5, -2.5]]
    assert five.demand is None
    assert five.capacity is None
    assert five.best_known is None


def test_cvrp_file_is_read() -> None:
    """A CVRP file gives the customers' demand, the capacity, and the optimum in its COMMENT."""
    four = read_instance(FIXTURES / "four.vrp")
    assert (four.name, four.problem, four.size, four.capacity) == ("four", "cvrp", 4, 10)
    assert four.coordinates.shape == (5, 2)
    assert four.demand is not None
    assert four.demand.tolist() == [4, 6, 5, 5]
    assert four.best_known == 43


@pytest.mark.parametrize(
    ("comment", "best"),
    [
        ("(Augerat et al, No of trucks: 5, Optimal value: 784)", 784),
        ("(Christophides and Eilon, Min no of trucks: 4, Best value: 375)", 375),
        ("best known cost = 12345", 12345),
        ("drilling problem, optimal 3-opt tour", None),
        ("Best value: 524.61", None),
        ("Optimal value: 1,034", None),
        ("best cost: 1e6", None),
        ("best cost: 1.5e+12", None),
        ("Optimal solution: 5 routes", None),
        ("Optimum: 7 trucks", None),
        ("Optimal value: 784, 5 trucks", 784),
    ],
)
def test_best_known_is_a_whole_number_in_the_comment(
    tmp_path: Path, comment: str, best: float | None
) -> None:
    """Other numbers in a COMMENT do not count as an optimum."""
    text = TSP_TEXT.replace("a square and a node below it", comment)
    assert read_text(tmp_path, text).best_known == best
    exact = text.replace("EUC_2D", "EXACT_2D")  # the cost may be in units of the coordinates
    assert read_text(tmp_path, exact).best_known is None


def test_best_known_of_the_caller_replaces_that_of_the_file() -> None:
    """The argument takes precedence over the COMMENT."""
    assert read_instance(FIXTURES / "four.vrp", best_known=40).best_known == 40


def test_distances_are_rounded_by_the_rule() -> None:
    """EUC_2D rounds to the nearest integer, CEIL_2D up; exact lengths stay unchanged."""
    five = read_instance(FIXTURES / "five.tsp")
    # sqrt(200) = 14.14, sqrt(31.25) = 5.59, sqrt(181.25) = 13.46
    assert distance_matrix(five)[0].tolist() == [0, 10, 14, 10, 6]
    assert distance_matrix(five)[1].tolist() == [10, 0, 10, 14, 13]
    up = attrs.evolve(five, distance_rule="CEIL_2D")
    assert distance_matrix(up)[0].tolist() == [0, 10, 15, 10, 6]
    assert distance_matrix(up)[1].tolist() == [10, 0, 10, 15, 14]
    assert distance_matrix(five).dtype == np.int64


def test_cost_by_hand() -> None:
    """Costs agree with those computed on paper, including the way back."""
    assert cost(read_instance(FIXTURES / "five.tsp"), [0, 1, 2, 3, 4]) == 42
    four = read_instance(FIXTURES / "four.vrp")
    assert cost(four, np.array([0, 1, 2, 0, 3, 4, 0])) == 43
    assert cost(four, torch.tensor([0, 1, 2, 0, 3, 4, 0, 0, 0])) == 43
    assert type(cost(four, [0, 1, 0])) is int


@pytest.mark.parametrize("actions", [[0, 1, 5], [-1, 0], [[0, 1]], [0.0, 1.0], [[0], [1, 2]]])
def test_cost_refuses_wrong_node_numbers(actions: list[int]) -> None:
    """A wrong index is refused, not wrapped around or rounded."""
    with pytest.raises(InvalidSolutionError, match="actions: expected"):
        cost(read_instance(FIXTURES / "five.tsp"), actions)


@given(solved())
def test_cost_is_a_sum_of_distances(drawn: tuple[FileInstance, list[int]]) -> None:
    """The cost is the sum of matrix entries over the legs; the matrix rounds each length."""
    instance, actions = drawn
    matrix = distance_matrix(instance)
    legs = zip(actions, [*actions[1:], actions[0]], strict=True)
    assert cost(instance, actions) == sum(int(matrix[a, b]) for a, b in legs)
    for a, b in [(0, 1), (1, 0), (1, 1)]:
        (x, y), (u, v) = instance.coordinates[[a, b]].tolist()
        exact = math.sqrt((x - u) ** 2 + (y - v) ** 2)
        up = instance.distance_rule == "CEIL_2D"
        assert matrix[a, b] == (math.ceil(exact) if up else math.floor(exact + 0.5))


@settings(deadline=None)
@given(st.data())
def test_files_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """With any spacing, line ends and order of rows, the same instance is read."""
    instance = data.draw(file_instances())
    read = read_text(tmp_path_factory.getbasetemp(), data.draw(file_texts(instance)))
    assert (read.name, read.problem) == (instance.name, instance.problem)
    assert (read.capacity, read.distance_rule) == (instance.capacity, instance.distance_rule)
    np.testing.assert_array_equal(read.coordinates, instance.coordinates)
    if instance.demand is not None:
        np.testing.assert_array_equal(read.demand, instance.demand)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("EUC_2D", [1, 1, 2]), ("CEIL_2D", [1, 2, 2]), ("FLOOR_2D", [1, 1, 1]),
     ("EXACT_2D", [1000, 1414, 1500])],
)  # fmt: skip
def test_each_rule_rounds_as_its_name_says(rule: str, expected: list[int]) -> None:
    """The lengths 1, sqrt(2) and 1.5: nearest, up, down, and thousandths."""
    points = np.array([[0, 0], [1, 0], [1, 1], [1.5, 0]], dtype=float)
    read = FileInstance("r", "tsp", points, None, None, rule)
    assert distance_matrix(read)[0, 1:].tolist() == expected
    assert cost(read, [0, 2]) == 2 * expected[1]


@given(file_instances())
def test_scaled_coordinates_fill_the_unit_square(instance: FileInstance) -> None:
    """Networks get float32 in the unit square; the longer side has length 1, the shape stays."""
    batch = to_instances(instance, PROBLEMS[instance.problem])
    points = batch.nodes
    if instance.problem == "cvrp":
        points = torch.cat((batch.depot, points), dim=1)
        assert batch.demand.shape == (1, instance.size)
        torch.testing.assert_close(
            batch.demand[0].double(),
            torch.as_tensor(instance.demand / instance.capacity),
            atol=0,
            rtol=3e-5,
        )
    assert points.dtype == torch.float32
    sides = np.ptp(instance.coordinates, axis=0)
    assert points.min() == 0
    assert points.max() == (1 if sides.max() > 0 else 0)
    wide = sides.max() or 1.0
    back = points[0].double().numpy() * wide + instance.coordinates.min(axis=0)
    np.testing.assert_allclose(back, instance.coordinates, atol=1e-6 * wide + 1e-9)


@given(st.integers(2, 2_000_000), st.integers(2, 8), st.data())
def test_masks_keep_to_the_integer_capacity(capacity: int, size: int, data: st.DataObject) -> None:
    """A load of one unit above the capacity is never feasible, for any capacity."""
    cuts = sorted(data.draw(st.integers(0, capacity + 1)) for _ in range(size - 1))
    demand = np.diff([0, *cuts, capacity + 1])
    if demand.max() > capacity:
        return
    instance = FileInstance("full", "cvrp", np.eye(size + 1, 2), demand, capacity, "EUC_2D")
    problem = CVRP()
    batch = to_instances(instance, problem)
    state = problem.reset(batch, 1)
    order = [i + 1 for i in range(size) if demand[i]]
    for customer in order[:-1]:
        state = problem.step(batch, state, torch.tensor([[customer]]))
    assert not problem.feasible(batch, state)[0, 0, order[-1]]


@given(st.integers(2, 50_000), st.floats(0, 1))
@example(50_000, 0.0)
def test_masks_allow_the_whole_capacity(capacity: int, share: float) -> None:
    """Up to a capacity of 50,000 a route may carry exactly the capacity."""
    first = 1 + int(share * (capacity - 2))
    demand = np.array([first, capacity - first])
    instance = FileInstance("full", "cvrp", np.eye(3, 2), demand, capacity, "EUC_2D")
    problem = CVRP()
    batch = to_instances(instance, problem)
    state = problem.step(batch, problem.reset(batch, 1), torch.tensor([[1]]))
    assert problem.feasible(batch, state)[0, 0, 2]


def test_vehicles_are_warned_of(tmp_path: Path) -> None:
    """No solver keeps to a number of routes, and the file is read all the same."""
    text = VRP_TEXT.replace("CAPACITY", "VEHICLES : 1\nCAPACITY")
    with pytest.warns(UserWarning, match=r"given\.vrp: VEHICLES 1: .* not kept"):
        assert read_text(tmp_path, text).size == 4


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (VRP_TEXT, "DISTANC : 10", "DISTANC: not supported for TYPE CVRP"),
        (TSP_TEXT, "CAPACITY : 10", "CAPACITY: not supported for TYPE TSP"),
        (TSP_TEXT, "VEHICLES : 10", "VEHICLES: not supported for TYPE TSP"),
    ],
)
def test_unknown_keywords_are_refused(text: str, line: str, expected: str, tmp_path: Path) -> None:
    """A misspelled constraint does not vanish."""
    with pytest.raises(FileFormatError, match=rf"given\.vrp: {expected}"):
        read_text(tmp_path, text.replace("DIMENSION", f"{line}\nDIMENSION"))


def test_keywords_of_form_are_read(tmp_path: Path) -> None:
    """They say how a file is written, and constrain nothing; nor does one vehicle in a TSP."""
    form = (
        "VEHICLES : 1\nNODE_COORD_TYPE : TWOD_COORDS\nDISPLAY_DATA_TYPE : COORD_DISPLAY\nDIMENSION"
    )
    assert read_text(tmp_path, TSP_TEXT.replace("DIMENSION", form)).size == 5


def test_instance_of_another_problem_is_refused() -> None:
    """An instance of one problem does not become a batch of the other."""
    with pytest.raises(ConfigError, match="five: expected an instance of cvrp, got one of tsp"):
        to_instances(read_instance(FIXTURES / "five.tsp"), CVRP())


@pytest.mark.skipif(not OFFICIAL.exists(), reason="needs ../shared/official/instances")
@pytest.mark.parametrize(
    ("name", "size", "capacity"),
    [
        ("X-n101-k25.vrp", 100, 206),
        ("X-n153-k22.vrp", 152, 144),
        ("a280.tsp", 280, None),
        ("kroA100.tsp", 100, None),
    ],
)
def test_published_files_are_read(name: str, size: int, capacity: int | None) -> None:
    """Published files are read without change and fit the unit square."""
    instance = read_instance(OFFICIAL / name)
    assert (instance.name, instance.size, instance.capacity) == (name[:-4], size, capacity)
    assert to_instances(instance, PROBLEMS[instance.problem]).nodes.shape == (1, size, 2)


def test_name_has_no_control_characters(tmp_path: Path) -> None:
    """It is shown on a terminal, which would obey them."""
    text = TSP_TEXT.replace("NAME", "NAME : a\x1b[2Jb\nCOMMENT", 1)
    assert read_text(tmp_path, text).name == r"a\x1b[2Jb"
