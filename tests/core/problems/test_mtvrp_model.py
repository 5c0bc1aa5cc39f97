"""PyVRP's model of the multi-task VRP, compared with all solutions of tiny instances."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
import torch
from variants import VARIANTS, drawn

from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.mtvrp_instances import MTVRPInstances
from lifelong_co.problems.mtvrp_model import NEVER, STEPS, mtvrp_model, steps
from lifelong_co.reference_solvers.contract import Settings
from lifelong_co.rollout.verification import complete
from lifelong_co.tensors import records

SETTINGS = Settings(iterations=200, restarts=2, seconds=10)


def optimum(batch: MTVRPInstances) -> float:
    """Return the least cost of all feasible solutions of one instance."""
    n = MTVRP().size(batch)
    solutions = []
    for order in permutations(range(1, n + 1)):
        for ends in product([False, True], repeat=n - 1):
            solution = [0]
            for customer, end in zip(order, (*ends, True), strict=True):
                solution += [customer, 0] if end else [customer]
            solutions.append(solution + [0] * (2 * n + 1 - len(solution)))
    actions = torch.tensor(solutions)[None]
    valid = complete(MTVRP(), batch, actions, [torch.zeros_like(actions[..., 0])])
    return float(MTVRP().cost(batch, actions)[valid].min())


@pytest.mark.parametrize("names", VARIANTS, ids="+".join)
def test_best_solution_of_pyvrp_is_optimal_and_costs_the_same(names: tuple[str, ...]) -> None:
    """PyVRP's solution is feasible in the problem, and its cost is the least of all, in each."""
    pytest.importorskip("pyvrp")
    batch = drawn(names, batch=3, size=5, seed=11, dtype=torch.float64)
    for b in range(3):
        row = records.select(batch, slice(b, b + 1))
        model = mtvrp_model(row)
        found = model.solve(SETTINGS)
        assert found is not None
        actions = torch.tensor([[found.actions]])
        assert bool(complete(MTVRP(), row, actions, [torch.zeros(1, 1, dtype=torch.long)]))
        cost = float(MTVRP().cost(row, actions))
        whole = sum(int(model.distances[i, j]) for i, j in pairwise(found.actions))
        assert whole / STEPS == pytest.approx(cost, abs=1e-6)
        assert cost == pytest.approx(optimum(row), abs=1e-6)


def just_met(bound: str, seed: int) -> MTVRPInstances:
    """Return one instance in float64 where a route to the farthest customer just meets a bound."""
    stream = torch.Generator().manual_seed(seed)
    places = {"depot": torch.rand(1, 1, 2, generator=stream)}
    places["nodes"] = torch.rand(1, 4, 2, generator=stream)
    away = (places["nodes"] - places["depot"]).square().sum(dim=2).sqrt()
    times = {
        "windows": torch.stack((torch.zeros_like(away), away), dim=2),
        "service": torch.zeros_like(away),
        "horizon": 2 * away.amax(dim=1),
    }
    limits = {"limit": 2 * away.amax(dim=1)} if bound == "limit" else times
    batch = MTVRP().instances(**places, demand=torch.full((1, 4), 0.25), **limits)
    return records.transform(batch, lambda x: x.double() if x.is_floating_point() else x)


@pytest.mark.parametrize("bound", ["limit", "windows"])
def test_bounds_that_are_just_met_are_feasible(bound: str) -> None:
    """Rounding of single ways does not forbid what the problem accepts."""
    for seed in range(40):
        model = mtvrp_model(just_met(bound, seed))
        out, back = model.durations[0, 1:], model.durations[1:, 0]
        early, late, service = model.times.T
        assert (out + back <= model.limit).all()
        assert (out <= late).all()
        assert (np.maximum(early, out) + service + back <= model.horizon).all()


@pytest.mark.parametrize("bound", ["limit", "windows"])
def test_best_solution_is_found_where_bounds_are_just_met(bound: str) -> None:
    """Being a few steps late never costs less than a feasible solution."""
    pytest.importorskip("pyvrp")
    for seed in (1, 19, 20, 21, 25):
        batch = just_met(bound, seed)
        found = mtvrp_model(batch).solve(SETTINGS)
        assert found is not None
        cost = float(MTVRP().cost(batch, torch.tensor([[found.actions]])))
        assert cost == pytest.approx(optimum(batch), abs=1e-5)


def test_rules_of_the_model_are_in_its_integers() -> None:
    """Ways back are free, backhauls come last, absent bounds are never reached."""
    batch = drawn(("open", "backhauls"), batch=1, size=8, seed=2, dtype=torch.float64)
    model = mtvrp_model(batch)
    backhaul = np.flatnonzero(batch.pickup[0].numpy() > 0) + 1
    assert len(backhaul)
    assert not model.distances[:, 0].any()
    assert not model.durations[:, 0].any()
    longest = model.durations.max()
    forbidden = model.distances > longest
    linehaul = sorted({*range(1, 9)} - {*backhaul.tolist()})
    assert forbidden.sum() == len(backhaul) * len(linehaul)
    assert bool(forbidden[np.ix_(backhaul, linehaul)].all())
    assert model.horizon == model.limit == NEVER
    assert bool((model.loads.sum(axis=1) * 12 % model.capacity == 0).all())


def test_lengths_and_times_are_rounded_to_steps() -> None:
    """Infinity is PyVRP's number for no bound."""
    found = steps(torch.tensor([0.5, 1.00000004, torch.inf], dtype=torch.float64))
    assert found.tolist() == [STEPS // 2, STEPS, NEVER]
