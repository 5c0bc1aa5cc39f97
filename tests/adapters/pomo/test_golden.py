"""Our POMO, compared with stored results of the official network in float64, same weights."""

import pytest
import torch
from goldens import PROBLEMS, golden
from lifelong_co_adapters.pomo import network
from lifelong_co_adapters.pomo.decoder import Nodes, Tables
from torch import Tensor

both = pytest.mark.parametrize("name", PROBLEMS)

# The most actions for lookup tables: none, and more than the goldens have.
PATHS = {"attention": (0, Nodes), "tables": (1000, Tables)}


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type:
    """Force one of the decoder's two paths; return the type of its encoding."""
    most, kind = PATHS[request.param]
    monkeypatch.setattr(network, "TABLE_ACTIONS", most)
    return kind


@both
def test_greedy_rollout_is_the_stored_one(name: str, path: type) -> None:
    """Actions and costs equal the stored ones, probabilities to 1e-6 at every step."""
    stored = golden(name)
    solver = stored.solver()
    assert isinstance(solver.encode(stored.instances).nodes, path)
    seen: list[Tensor] = []
    rollout = solver.rollout(
        stored.instances, decode="greedy", observe=lambda _, log_probs: seen.append(log_probs.exp())
    )
    assert torch.equal(rollout.actions, stored.actions)
    # Exact except for the order of summation, which depends on the CPU's vector width.
    torch.testing.assert_close(rollout.cost, stored.cost, rtol=1e-14, atol=0)
    torch.testing.assert_close(torch.stack(seen, dim=2), stored.probs, rtol=0, atol=1e-6)


@both
def test_replaying_the_actions_gives_the_stored_probabilities(name: str, path: type) -> None:
    """A caller needs only `reset`, `step` and `log_probs`."""
    stored = golden(name)
    solver, problem = stored.solver(), stored.problem
    encoding = solver.encode(stored.instances)
    assert isinstance(encoding.nodes, path)
    _, S, T = stored.actions.shape
    state = problem.reset(stored.instances, trajectories=S)
    for t in range(T):
        if t >= stored.forced:
            log_probs = solver.log_probs(encoding, state)
            want = stored.probs[:, :, t - stored.forced]
            torch.testing.assert_close(log_probs.exp(), want, rtol=0, atol=1e-6)
            infeasible = ~problem.feasible(stored.instances, state)
            assert torch.equal(log_probs == -torch.inf, infeasible)
        state = problem.step(stored.instances, state, stored.actions[:, :, t])
    assert problem.done(stored.instances, state).all()
    torch.testing.assert_close(
        problem.cost(stored.instances, stored.actions), stored.cost, rtol=1e-14, atol=0
    )


@both
def test_single_precision_is_close(name: str, path: type) -> None:
    """In float32, as in training, the first unforced probabilities are within 1e-4."""
    stored = golden(name)
    solver = stored.solver(torch.float32)
    fields = {
        key: getattr(stored.instances, key).float()
        for key in ("depot", "nodes", "demand")
        if hasattr(stored.instances, key)
    }
    instances = stored.problem.instances(**fields)
    state = stored.problem.reset(instances, stored.actions.shape[1])
    for t in range(stored.forced):
        state = stored.problem.step(instances, state, stored.actions[:, :, t])
    encoding = solver.encode(instances)
    assert isinstance(encoding.nodes, path)
    log_probs = solver.log_probs(encoding, state)
    assert log_probs.dtype == torch.float32
    torch.testing.assert_close(log_probs.exp().double(), stored.probs[:, :, 0], rtol=0, atol=1e-4)


@both
def test_behavior_before_the_first_action(name: str, path: type) -> None:
    """It is uniform for the TSP, which has no node yet, and not for the CVRP, at the depot."""
    stored = golden(name)
    solver = stored.solver()
    state = stored.problem.reset(stored.instances, 3)
    encoding = solver.encode(stored.instances)
    assert isinstance(encoding.nodes, path)
    probs = solver.log_probs(encoding, state).exp()
    feasible = stored.problem.feasible(stored.instances, state)
    uniform = feasible / feasible.sum(dim=2, keepdim=True)
    assert probs.shape == uniform.shape
    assert torch.allclose(probs, uniform.double(), rtol=1e-12) == (name == "tsp")
    assert torch.equal(probs > 0, feasible)
