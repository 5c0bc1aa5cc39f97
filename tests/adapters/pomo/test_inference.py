"""Greedy decoding without gradients: the same decisions as the network that learns."""

from typing import Any

import attrs
import pytest
import torch
from goldens import PROBLEMS, golden
from lifelong_co_adapters.pomo import inference
from lifelong_co_adapters.pomo.inference import Inference, Pairs

import lifelong_co as lco

names = pytest.mark.parametrize("name", PROBLEMS)
problems = pytest.mark.parametrize("problem", ["tsp", "cvrp"])


def fast(solver: Any) -> Inference:
    """Return the policy of a solver for inference."""
    return Inference(solver.problem, solver.module)


@names
@torch.no_grad()
def test_log_probs_equal_those_of_the_network_in_every_state(name: str) -> None:
    """In all states of a greedy rollout the difference is below 1e-9 (double precision)."""
    stored = golden(name)
    solver, instances = stored.solver(), stored.instances
    encoding = fast(solver).encode(instances)
    assert isinstance(encoding[1], Pairs)
    seen = []

    def compare(state: Any, log_probs: torch.Tensor) -> None:
        torch.testing.assert_close(
            fast(solver).log_probs(encoding, state), log_probs, rtol=0, atol=1e-9
        )
        seen.append(state)

    solver.rollout(instances, "greedy", observe=compare)
    assert len(seen) > 2


@problems
def test_rollout_without_gradients_takes_the_same_actions(problem: str) -> None:
    """Actions and costs are equal in single precision; log-likelihoods up to rounding."""
    torch.manual_seed(0)
    solver = lco.solver("pomo", problem=problem, encoder_layer_num=1)
    stream = torch.Generator().manual_seed(1)
    instances = lco.distribution("U", problem=problem).sample(6, 12, generator=stream)
    learned = solver.rollout(instances, "greedy")
    with torch.no_grad():
        tested = solver.rollout(instances, "greedy")
    assert learned.log_likelihood.requires_grad
    assert torch.equal(learned.actions, tested.actions)
    assert torch.equal(learned.cost, tested.cost)
    torch.testing.assert_close(tested.log_likelihood, learned.log_likelihood, rtol=1e-4, atol=1e-4)


@problems
@torch.no_grad()
def test_states_outside_the_safe_range_are_computed_by_the_network(
    problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores of thousands, which powers of two do not hold, give finite and equal decisions."""
    torch.manual_seed(0)
    solver = lco.solver("pomo", problem=problem, encoder_layer_num=1)
    for layer in (solver.module.key, *solver.module.queries.values()):
        layer.weight.mul_(100)
    used = []
    attend = inference.attend
    monkeypatch.setattr(inference, "attend", lambda *a: used.append(a) or attend(*a))
    stream = torch.Generator().manual_seed(1)
    instances = lco.distribution("U", problem=problem).sample(4, 12, generator=stream)
    seen: list[torch.Tensor] = []
    watched = solver.rollout(instances, "greedy", observe=lambda _, each: seen.append(each))
    tested = solver.rollout(instances, "greedy")
    assert used
    assert torch.equal(watched.actions, tested.actions)
    assert not tested.log_likelihood.isnan().any()


@torch.no_grad()
def test_too_many_pairs_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above `SCORES` pairs, a step computes the scores that it needs, with the same result."""
    solver = lco.solver("pomo", problem="cvrp", encoder_layer_num=1)
    stream = torch.Generator().manual_seed(1)
    instances = lco.distribution("U", problem="cvrp").sample(2, 6, generator=stream)
    kept = solver.rollout(instances, "greedy")
    monkeypatch.setattr(inference, "SCORES", 0)
    assert not isinstance(fast(solver).encode(instances)[1], Pairs)
    assert torch.equal(solver.rollout(instances, "greedy").actions, kept.actions)


@torch.no_grad()
def test_first_nodes_of_another_rollout_are_looked_up_again() -> None:
    """The scores that are kept for the first nodes of tours belong to these nodes."""
    solver = lco.solver("pomo", problem="tsp", encoder_layer_num=1)
    stream = torch.Generator().manual_seed(1)
    instances = lco.distribution("U", problem="tsp").sample(2, 6, generator=stream)
    policy, problem = fast(solver), solver.problem
    encoding, usual = policy.encode(instances), solver.encode(instances)
    state = problem.step(instances, problem.reset(instances, 3), torch.tensor([[0, 1, 2]] * 2))
    other = attrs.evolve(state, first=torch.tensor([[3, 4, 5]] * 2))
    for each in (state, other, state):
        torch.testing.assert_close(
            policy.log_probs(encoding, each), solver.log_probs(usual, each), rtol=0, atol=1e-5
        )
