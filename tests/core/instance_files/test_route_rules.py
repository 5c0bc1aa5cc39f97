"""Time windows in the units of a file: an independent check, and the repair of late routes."""

import math

import attrs
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import FIXTURES

from lifelong_co.instance_files import solomon
from lifelong_co.instance_files.file_instance import (
    FileInstance,
    InvalidSolutionError,
    to_instances,
)
from lifelong_co.instance_files.nearest_neighbor import nearest_neighbor
from lifelong_co.instance_files.route_rules import in_time, with_limit, with_windows
from lifelong_co.instance_files.solutions import check
from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.rollout.verification import complete

SEVEN = solomon.read(FIXTURES / "seven.txt")


def test_route_in_time_is_accepted_with_its_cost() -> None:
    """The cost is the length, without waiting and service."""
    report = check(SEVEN, [0, 3, 1, 0, 2, 0, 4, 0, 5, 6, 0, 7, 0])
    points = SEVEN.coordinates[[0, 3, 1, 0, 2, 0, 4, 0, 5, 6, 0, 7, 0]]
    assert report.cost == pytest.approx(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    assert report.loads == [20, 7, 10, 16, 8]


@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        ([0, 4, 3, 0, 1, 2, 0, 5, 6, 0, 7, 0], r"route #1: expected at most 120 at node 3, got 13"),
        ([0, 3, 1, 0, 2, 4, 0, 7, 5, 0, 6, 0], r"route #3: expected at most 61 at node 5, got \d+"),
        ([0, 1, 3, 2, 0, 4, 0, 5, 6, 0, 7, 0], "expected at most the capacity 20"),
    ],
)
def test_late_route_is_refused(actions: list[int], reason: str) -> None:
    """The error names the route, the node and both times."""
    with pytest.raises(InvalidSolutionError, match=reason):
        check(SEVEN, actions)


def test_route_may_be_late_by_no_more_than_rounding() -> None:
    """Of a route that arrives at 15, the file may say 1e-7 less, but not 0.001 less."""
    points = np.array([[0.0, 0], [3, 4], [6, 8]])
    plain = FileInstance("p", "mtvrp", points, np.array([1, 1]), 9, "UNROUNDED")
    rounded, late = (
        with_windows("p", plain, np.array([[0.0, 40], [0, 15 - less], [0, 40]]), np.zeros(3))
        for less in (1e-7, 0.001)
    )
    assert check(rounded, [0, 2, 1, 0]).cost == 20
    with pytest.raises(InvalidSolutionError, match=r"at most 14\.999 at node 1, got 15"):
        check(late, [0, 2, 1, 0])


def test_late_routes_are_split() -> None:
    """The order stays, and every route is in time afterwards; a solution in time is not changed."""
    late = np.array([0, 4, 3, 0, 2, 1, 0, 7, 5, 0, 6, 0, 0])
    repaired = in_time(SEVEN, late)
    assert [node for node in repaired if node] == [node for node in late if node]
    check(SEVEN, repaired)
    fine = np.array([0, 3, 1, 0, 2, 0, 4, 0, 5, 6, 0, 7, 0])
    assert in_time(SEVEN, fine).tolist() == fine.tolist()


@st.composite
def timed(draw: st.DrawFn) -> FileInstance:
    """Draw instances with time windows or limited routes, in which each node is reached alone."""
    size = draw(st.integers(2, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    points = random.integers(0, 100, (size + 1, 2)).astype(float)
    direct = np.linalg.norm(points - points[0], axis=1)
    due = np.ceil(direct + random.integers(0, 60, size + 1))
    ready = np.floor(due * random.random(size + 1))
    service = random.integers(0, 20, size + 1).astype(float)
    service[0] = 0
    ready[0], due[0] = 0, np.ceil((due + service + direct).max() + 1)
    demand = random.integers(1, 9, size)
    rule = draw(st.sampled_from(("UNROUNDED", "EUC_2D", "CEIL_2D", "EXACT_2D")))
    plain = FileInstance("drawn", "mtvrp", points, demand, 20, rule)
    if draw(st.booleans()):
        service *= draw(st.integers(0, 1))
        longest = math.ceil((2 * direct + service).max()) + 2 + draw(st.integers(0, 60))
        return with_limit("drawn", plain, longest * plain.steps, service * plain.steps)
    if rule != "UNROUNDED":  # rounding up may be a unit more on each of the two legs
        due = due + 2
    bounds = np.stack((ready, due), axis=1)
    return with_windows("drawn", plain, bounds * plain.steps, service * plain.steps)


@st.composite
def listed(draw: st.DrawFn) -> FileInstance:
    """Draw instances with listed distances in another unit, which no ratio makes straight lines."""
    size, unit = draw(st.integers(2, 8)), draw(st.sampled_from((0.1, 1.0, 30.0)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    points = random.integers(0, 100, (size + 1, 2)).astype(float)
    straight = np.linalg.norm(points[:, None] - points, axis=2)
    weights = np.ceil(straight * unit * random.uniform(0.5, 2, straight.shape)).astype(np.int64)
    weights[tuple(draw(st.permutations(range(size + 1)))[:2])] = draw(st.sampled_from((1, 9999)))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    demand, service = random.integers(1, 9, size), random.integers(0, 9, size + 1).astype(float)
    service[0] = 0
    plain = FileInstance("listed", "mtvrp", points, demand, 20, "EXPLICIT", weights=weights)
    due = weights[0] + random.integers(0, 60, size + 1).astype(float)
    due[0] = (due + service + weights[0]).max()
    if draw(st.booleans()):
        return with_limit("listed", plain, int(due[0]), 0 * service)
    return with_windows("listed", plain, np.stack((0 * due, due), axis=1), service)


@pytest.mark.parametrize("scale", [0.001, 1.0, 1000.0])
def test_unit_of_the_coordinates_does_not_matter_beside_listed_distances(scale: float) -> None:
    """They may be meters beside minutes. Twice the straight lines are the straight lines."""
    points = np.array([[0.0, 0], [3, 4], [6, 8], [3, 0]])
    straight = np.linalg.norm(points[:, None] - points, axis=2)
    demand, service = np.array([1, 2, 2]), np.array([0.0, 2, 0, 2])
    bounds = np.array([[0.0, 60], [2, 20], [0, 50], [4, 40]])
    plain = FileInstance("p", "mtvrp", points, demand, 9, "UNROUNDED")
    minutes = np.rint(2 * straight).astype(np.int64)
    listed = attrs.evolve(
        plain, coordinates=points * scale, distance_rule="EXPLICIT", weights=minutes
    )
    for one, other in (
        (with_limit("e", listed, 50, 0 * service), with_limit("p", plain, 25, 0 * service)),
        (with_windows("e", listed, bounds, service),
         with_windows("p", plain, bounds / 2, service / 2)),
    ):  # fmt: skip
        found, expected = (to_instances(each, MTVRP()) for each in (one, other))
        for name in ("limit", "windows", "service", "horizon"):
            first, second = getattr(found, name), getattr(expected, name)
            torch.testing.assert_close(first, second, rtol=0.02, atol=0)


def test_limits_and_times_have_the_unit_of_the_distances() -> None:
    """With EXACT_2D that is a thousandth of the coordinates' unit."""
    points = np.array([[0.0, 0], [3, 4], [6, 8], [0, 8]])
    demand, service = np.array([1, 2, 2]), np.array([0.0, 1, 0, 1])
    bounds = np.array([[0.0, 40], [1, 10], [0, 30], [2, 20]])
    exact = FileInstance("e", "mtvrp", points, demand, 9, "EXACT_2D")
    plain = attrs.evolve(exact, distance_rule="UNROUNDED")
    for one, other in (
        (with_limit("e", exact, 25_000, 0 * service), with_limit("p", plain, 25, 0 * service)),
        (
            with_windows("e", exact, 1000 * bounds, 1000 * service),
            with_windows("p", plain, bounds, service),
        ),
    ):
        found, expected = (to_instances(each, MTVRP()) for each in (one, other))
        for name in ("limit", "windows", "service", "horizon"):
            torch.testing.assert_close(getattr(found, name), getattr(expected, name))


@settings(deadline=None, max_examples=60)
@given(timed() | listed())
def test_solutions_of_the_network_solve_the_file(instance: FileInstance) -> None:
    """What the masks allow is in time in the file, after late routes are split."""
    problem = MTVRP()
    tours = nearest_neighbor(instance, problem)
    batch = to_instances(instance, problem)
    forced = problem.starts(batch, len(tours))
    found = complete(problem, batch, torch.as_tensor(tours)[None], forced)
    for actions in tours:
        check(instance, in_time(instance, actions))
    assert bool(found.all())
