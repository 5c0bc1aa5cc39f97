"""Our INViT, compared with stored results of the official network in float64, same weights."""

import pytest
import torch
from goldens import PROBLEMS, invit_golden
from torch import Tensor

from lifelong_co.rollout.decoding import rollout
from lifelong_co.tensors import records

both = pytest.mark.parametrize("name", PROBLEMS)


def likeliest(probs: Tensor, k: int) -> Tensor:
    """Return the ``k`` greatest probabilities: the golden stores candidates, not actions."""
    return probs.sort(dim=-1, descending=True).values[..., :k]


@both
def test_greedy_rollout_is_the_stored_one(name: str) -> None:
    """From the stored start, actions, cost and log-likelihood are the stored ones."""
    stored = invit_golden(name)
    starts = (stored.actions[:, :1],) if name == "tsp" else ()
    seen: list[Tensor] = []
    with torch.no_grad():
        solution = rollout(
            stored.solver(),
            stored.instances,
            starts=starts,
            trajectories=1,
            observe=lambda _, log_probs: seen.append(log_probs[:, 0].exp()),
        )
    T = stored.actions.shape[1]
    assert torch.equal(solution.actions[:, 0, :T], stored.actions)
    assert not solution.actions[:, 0, T:].any()  # the last visit to the depot, not in the golden
    torch.testing.assert_close(solution.cost[:, 0], stored.cost, rtol=1e-14, atol=0)
    torch.testing.assert_close(
        solution.log_likelihood[:, 0], stored.log_prob, rtol=1e-12, atol=1e-12
    )
    steps, slots = stored.probs.shape[1:]
    probs = torch.stack(seen, dim=1)[:, :steps]
    assert probs.count_nonzero(dim=2).max() <= slots
    torch.testing.assert_close(
        likeliest(probs, slots), likeliest(stored.probs, slots), rtol=0, atol=1e-12
    )


@both
def test_rollout_without_a_given_start(name: str) -> None:
    """The CVRP begins at the depot, as stored; the TSP at node 0, other than the golden."""
    stored = invit_golden(name)
    T = stored.actions.shape[1]
    with torch.no_grad():
        actions = stored.solver().rollout(stored.instances).actions
    assert actions.shape[1] == 1
    if name == "cvrp":
        assert torch.equal(actions[:, 0, :T], stored.actions)
    else:
        assert torch.equal(actions[:, 0].sort().values, torch.arange(T).expand(len(actions), T))
        assert not actions[:, 0, 0].any()


@both
def test_single_precision_is_close(name: str) -> None:
    """In float32, as in training, replayed probabilities are within 1e-4 at every step."""
    stored = invit_golden(name)
    solver, problem = stored.solver(torch.float32), stored.problem
    instances = records.transform(stored.instances, lambda tensor: tensor.float())
    state = problem.reset(instances, 1)
    forced, slots = stored.actions.shape[1] - stored.probs.shape[1], stored.probs.shape[2]
    with torch.no_grad():
        encoding = solver.encode(instances)
        for t, action in enumerate(stored.actions.unbind(dim=1)):
            if t >= forced:
                probs = solver.log_probs(encoding, state).exp()[:, 0]
                assert probs.dtype == torch.float32
                torch.testing.assert_close(
                    likeliest(probs.double(), slots),
                    likeliest(stored.probs[:, t - forced], slots),
                    rtol=0,
                    atol=1e-4,
                )
            state = problem.step(instances, state, action[:, None])
