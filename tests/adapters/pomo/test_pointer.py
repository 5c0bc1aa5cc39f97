"""From scores to log-probabilities."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_adapters.pomo.masks import minus_infinity
from lifelong_co_adapters.pomo.pointer import log_probs
from torch import Tensor


def clipped(
    scores: Tensor, feasible: Tensor, clipping: float, nowhere: Tensor | None = None
) -> Tensor:
    """Return the log-probabilities, and leave the scores as they are."""
    forbid = minus_infinity(~feasible, scores.dtype)
    return log_probs(scores.clone(), forbid, clipping, nowhere)


@given(
    seed=st.integers(0, 1000),
    size=st.sampled_from([0.1, 1.0, 30.0, 1000.0]),
    clipping=st.sampled_from([1.0, 10.0, 50.0]),
)
def test_log_probs_are_the_log_softmax_of_clipped_scores(
    seed: int, size: float, clipping: float
) -> None:
    """Values and gradients, for scores of any size; infeasible actions have no probability."""
    torch.manual_seed(seed)
    scores = torch.randn(2, 3, 7, dtype=torch.double) * size
    feasible = torch.rand(2, 3, 7) < 0.5
    feasible[..., 2] = True
    outcomes = []
    for call in (
        lambda x: clipped(x, feasible, clipping),
        lambda x: (clipping * x.tanh()).masked_fill(~feasible, -torch.inf).log_softmax(dim=2),
    ):
        given_scores = scores.clone().requires_grad_()
        found = call(given_scores)
        assert found.isneginf().equal(~feasible)
        (found.exp().square().sum() + found[..., 2].sum()).backward()
        outcomes.append((found.detach(), given_scores.grad))
    for mine, its in zip(*outcomes, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-9, atol=1e-9)


def test_behavior_before_the_first_node_is_uniform() -> None:
    """Only there; no gradient reaches its scores."""
    torch.manual_seed(0)
    scores = torch.randn(2, 3, 7, requires_grad=True)
    feasible = torch.rand(2, 3, 7) < 0.5
    feasible[..., 2] = True
    nowhere = torch.tensor([[True, False, False], [False, True, True]])
    found = clipped(scores, feasible, 10.0, nowhere)
    uniform = feasible / feasible.sum(dim=2, keepdim=True)
    torch.testing.assert_close(found[nowhere].exp(), uniform[nowhere])
    torch.testing.assert_close(found[~nowhere], clipped(scores, feasible, 10.0)[~nowhere])
    found[..., 2].sum().backward()
    assert scores.grad is not None
    assert not scores.grad[nowhere].any()
    assert scores.grad[~nowhere].any(dim=1).all()
