"""Manhattan and Chebyshev distances: costs under them, and records that keep them."""

import itertools
import math
from typing import Any

import attrs
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import PROBLEMS, identical, instances, walks
from torch import Tensor

import lifelong_co as lco
from lifelong_co.experiments.references.subject import of_instances
from lifelong_co.problems.distances import EXPONENTS, exponents, lengths, measured
from lifelong_co.reference_solvers.contract import STEPS
from lifelong_co.replay.experience import from_state_dicts, record, state_dicts
from lifelong_co.tensors import records

NAMES = st.sampled_from(list(EXPONENTS))
OTHERS = st.sampled_from(["manhattan", "chebyshev"])
whole = st.integers(-50, 50)
points = st.lists(st.tuples(whole, whole), min_size=3, max_size=3)


def by_hand(name: str, one: list[float], two: list[float]) -> float:
    """Return the distance of two points in plain Python."""
    x, y = (abs(a - b) for a, b in zip(one, two, strict=True))
    return {"euclidean": math.hypot(x, y), "manhattan": x + y, "chebyshev": max(x, y)}[name]


def between(name: str, one: tuple[int, int], two: tuple[int, int]) -> float:
    """Return the length of one leg."""
    leg = torch.tensor([one], dtype=torch.float64) - torch.tensor([two])
    return float(lengths(leg.view(1, 1, 1, 2), exponents(name, leg[None])))


@given(NAMES, points)
def test_every_distance_is_a_metric(name, corners):
    """It is zero only for equal points, symmetric, and satisfies the triangle inequality."""
    a, b, c = corners
    assert (between(name, a, b) == 0) == (a == b)
    assert between(name, a, b) == between(name, b, a) >= 0
    assert between(name, a, c) <= between(name, a, b) + between(name, b, c) + 1e-9


@given(points)
def test_chebyshev_is_least_and_manhattan_greatest(corners):
    """Chebyshev <= Euclidean <= Manhattan <= twice Chebyshev."""
    a, b, _ = corners
    least, middle, most = (between(n, a, b) for n in ("chebyshev", "euclidean", "manhattan"))
    assert least - 1e-9 <= middle <= most + 1e-9
    assert most <= 2 * least


@pytest.mark.parametrize(
    ("name", "tour", "routes"),
    [("euclidean", 1.2, 1.6), ("manhattan", 1.4, 2.0), ("chebyshev", 1.1, 1.4)],
)
def test_costs_under_each_distance_by_hand(name, tour, routes):
    """A triangle with sides 0.3, 0.4 and 0.5; two routes out and back, by 0.3 and by (0.3, 0.4)."""
    nodes = torch.tensor([[[0.3, 0.0], [0.3, 0.4]]], dtype=torch.float64)
    depot = torch.zeros(1, 1, 2, dtype=torch.float64)
    corners = lco.problem("tsp").instances(nodes=torch.cat((depot, nodes), dim=1), distance=name)
    cost = lco.problem("tsp").cost(corners, torch.tensor([[[0, 1, 2], [2, 1, 0]]]))
    assert cost.tolist() == [pytest.approx([tour, tour])]
    cvrp = lco.problem("cvrp")
    full = torch.ones(1, 2, dtype=torch.float64)
    town = cvrp.instances(depot=depot, nodes=nodes, demand=full, distance=name)
    cost = cvrp.cost(town, torch.tensor([[[0, 1, 0, 2, 0]]]))
    assert cost.item() == pytest.approx(routes)


@given(st.sampled_from(["tsp", "cvrp"]), NAMES, st.data())
def test_costs_are_sums_of_legs(problem, name, data):
    """It holds for all solutions and distances, and the eight images have the same cost."""
    walk = data.draw(walks(problem))
    batch = measured(walk.instances, name)
    depot = [batch.depot] if problem == "cvrp" else []
    places = torch.cat([*depot, batch.nodes], dim=1).tolist()
    cost = walk.problem.cost(batch, walk.actions)
    for b, s in itertools.product(range(cost.shape[0]), range(cost.shape[1])):
        ordered = [places[b][action] for action in walk.actions[b, s].tolist()]
        legs = [by_hand(name, ordered[t - 1], ordered[t]) for t in range(len(ordered))]
        assert float(cost[b, s]) == pytest.approx(sum(legs), abs=1e-4)
    images = walk.problem.cost(walk.problem.augment(batch), walk.actions.repeat(8, 1, 1))
    torch.testing.assert_close(images, cost.repeat(8, 1))


@given(st.sampled_from(["tsp", "cvrp"]), NAMES, NAMES, st.data())
def test_joined_batches_keep_their_distances(problem, one, two, data):
    """Each instance has the same cost alone and in a batch with other distances."""
    walk = data.draw(walks(problem))
    parts = [measured(walk.instances, name) for name in (one, two)]
    joined = records.concatenate(parts)
    assert (joined.distance is None) == (one == two == "euclidean")
    costs = [walk.problem.cost(part, walk.actions) for part in parts]
    both = walk.problem.cost(joined, walk.actions.repeat(2, 1, 1))
    assert torch.equal(both, torch.cat(costs))
    B = len(walk.actions)
    back = [records.select(joined, slice(k * B, (k + 1) * B)) for k in range(2)]
    for part, cost in zip(back, costs, strict=True):
        assert torch.equal(walk.problem.cost(part, walk.actions), cost)


@given(st.sampled_from(["tsp", "cvrp"]), st.data())
def test_euclidean_instances_have_no_distance_field(problem, data):
    """So checkpoints and the keys of references stay the same as in earlier versions."""
    batch = data.draw(instances(problem))
    assert measured(batch, "euclidean") is batch
    assert "distance" not in records.tensors(batch)
    fields = records.tensors(batch)
    made = PROBLEMS[problem].instances(**fields, distance="euclidean")
    assert identical(made, batch)
    assert "distance" not in records.tensors(PROBLEMS[problem].augment(batch))


@given(st.sampled_from(["tsp", "cvrp"]), OTHERS, st.data())
def test_distance_changes_no_other_field(problem, name, data):
    """It can be given when instances are made or later; all other fields stay the same."""
    batch = data.draw(instances(problem))
    other = measured(batch, name)
    made = PROBLEMS[problem].instances(**records.tensors(batch), distance=name)
    assert identical(made, other)
    assert other.distance.tolist() == [EXPONENTS[name]] * records.rows(batch)
    assert identical(attrs.evolve(other, distance=None), batch)


@given(st.sampled_from(["tsp", "cvrp"]), OTHERS, st.data())
def test_experiences_keep_the_distance(problem, name, data):
    """It survives a checkpoint and a buffer with experiences of other tasks."""
    walk = data.draw(walks(problem))
    state, mask = walk.states[0], walk.masks[0]
    log_probs = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    batches = [walk.instances, measured(walk.instances, name)]
    units = [record(task, batch, state, log_probs) for task, batch in enumerate(batches)]
    back = from_state_dicts(state_dicts(units), walk.problem, torch.device("cpu"))
    for unit, batch in zip(back, batches, strict=True):
        assert identical(unit.instances, batch)


@given(NAMES, st.integers(3, 7), st.integers(0, 99))
def test_references_are_solved_under_the_task_distance(name, n, seed):
    """The solver's distances give the cost of a tour; other distances' references are not used."""
    problem = lco.problem("tsp")
    nodes = torch.rand(1, n, 2, generator=torch.Generator().manual_seed(seed))
    subjects = {
        each: of_instances(problem.instances(nodes=nodes, distance=each), problem, "T")[0]
        for each in EXPONENTS
    }
    assert len({subject.key for subject in subjects.values()}) == len(EXPONENTS)
    subject, tour = subjects[name], list(range(n))
    seen = sum(int(subject.model().distances[a, (a + 1) % n]) for a in tour) / STEPS
    assert seen == pytest.approx(subject.cost(tour), abs=n / STEPS)
    corners = nodes[0].tolist()
    legs = [by_hand(name, corners[a - 1], corners[a]) for a in tour]
    assert subject.cost(tour) == pytest.approx(sum(legs), rel=1e-6)


@attrs.frozen(eq=False)
class Strange:
    """Instances of a problem without a choice of distances."""

    nodes: Tensor


def test_unknown_or_unsupported_distance_is_refused():
    """The error suggests the nearest name, or names the only distance of the problem."""
    nodes: Any = torch.rand(2, 4, 2)
    with pytest.raises(lco.UnknownNameError, match=r"distance 'manhatan'.*Did you mean 'manha"):
        lco.problem("tsp").instances(nodes=nodes, distance="manhatan")
    assert measured(Strange(nodes), "euclidean").nodes is nodes
    with pytest.raises(lco.ConfigError, match="the only distance of Strange, got 'chebyshev'"):
        measured(Strange(nodes), "chebyshev")
