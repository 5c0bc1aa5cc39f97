"""CLEAR: the weights of V-trace, and that the recorded behavior is the one that is cloned."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.clear import v_trace_loss
from lifelong_co_plugins.methods.instance_replay.solutions import (
    SolutionMemory,
    Solutions,
    behavior_along,
)
from tiny_runs import BATCH_SIZE, exact_run, tiny_config

from lifelong_co.errors import ConfigError
from lifelong_co.learner import train_batch


@given(seed=st.integers(0, 999))
def test_gradient_is_that_of_v_trace_with_a_constant_value(seed: int) -> None:
    """Espeholt et al. 2018, eq. 1 and §4.2, with V = b, a reward at the end, both limits 1."""
    stream = torch.Generator().manual_seed(seed)
    new = torch.randn((1, 1, 5), generator=stream, dtype=torch.float64).requires_grad_()
    old = torch.randn((1, 1, 5), generator=stream, dtype=torch.float64)
    reward, b = torch.randn(2, generator=stream, dtype=torch.float64).tolist()
    cost = torch.tensor([[-(reward - b)]], dtype=torch.float64)  # advantages are of costs
    (found,) = torch.autograd.grad(v_trace_loss(new, old, cost), new)
    rho = (new - old).exp().clamp(max=1).detach()[0, 0].tolist()
    v = 0.0  # the value target of the step after; the solution has ended
    for s in reversed(range(5)):
        r = reward if s == 4 else 0.0
        after = v if s < 4 else 0.0
        value_after = b if s < 4 else 0.0
        advantage = rho[s] * (r + after - b)
        assert found[0, 0, s].item() == pytest.approx(-advantage, abs=1e-12)
        delta = rho[s] * (r + value_after - b)
        v = b + delta + rho[s] * (after - value_after)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_solver_that_has_not_changed_has_nothing_to_clone(tmp_path: Path, problem: str) -> None:
    """Its behavior now is the recorded one, so the divergence is 0, also for joined solutions."""
    options = {"buffer_size": 8, "trajectories": 2, "beta": 0.0}
    config = tiny_config("clear", problem, sizes=(5,), **options)
    run = exact_run(config, tmp_path)
    run.method.before_task(run.learner)
    for group in run.learner.optimizer.param_groups:
        group["lr"] = 0.0
    losses = [train_batch(run) for _ in range(3)]
    assert "replay" not in losses[0]
    for each in losses[1:]:
        assert abs(each["replay"].item()) < 1e-4  # recorded in half precision
    assert len(run.method.state_dict()["reservoir"]["items"]) == 8


@pytest.mark.parametrize("norm", ["batch", "batch_no_track"])
def test_solver_that_normalises_over_the_batch_is_refused(tmp_path: Path, norm: str) -> None:
    """A replayed instance has other instances beside it than when it was stored."""
    config = tiny_config("clear", sizes=(5,), buffer_size=8)
    options = config.solver_options | {"norm": norm}
    config = attrs.evolve(config, solver="omni", solver_options=options)
    run = exact_run(config, tmp_path)
    run.method.before_task(run.learner)
    with pytest.raises(ConfigError, match="expected a solver that treats each instance alone"):
        train_batch(run)


def test_policy_loss_of_an_unchanged_solver_is_reinforce() -> None:
    """All ratios are 1: each solution counts by its recorded advantage."""
    new = torch.randn((2, 3, 4), dtype=torch.float64)
    advantage = torch.randn((2, 3), dtype=torch.float64)
    expected = (advantage * new.sum(dim=2)).mean()
    torch.testing.assert_close(v_trace_loss(new, new, advantage), expected)


def test_term_of_a_step_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``beta * V-trace + alpha * KL``, the mean over the replayed instances of both sizes."""
    options: dict[str, Any] = {"alpha": 0.3, "beta": 0.7, "buffer_size": 8, "trajectories": 2}
    run = exact_run(tiny_config("clear", sizes=(5, 6), **options), tmp_path)
    learner, module = run.learner, run.learner.solver.module
    for learner.task in (0, 1):
        run.method.before_task(learner)
        for learner.batch in range(2):
            train_batch(run)
    replayed: list[Solutions] = []
    sample = SolutionMemory.sample

    def spy(memory: SolutionMemory, k: int) -> list[Solutions]:
        replayed.extend(sample(memory, k))
        return replayed

    monkeypatch.setattr(SolutionMemory, "sample", spy)
    rollout = learner.solver.rollout(learner.draw(1), "sample", generator=run.actions)
    terms = [term for _, term in run.method.loss_terms(learner, rollout)]
    assert len(replayed) == 2
    want = torch.zeros((), dtype=torch.float64)
    for part in replayed:
        encoding = learner.solver.encode(part.instances)
        now = behavior_along(learner.solver, part.instances, encoding, part.actions, part.forced)
        old = part.behavior.double()
        taken = part.actions[..., part.forced :, None]
        new, past = now.gather(3, taken).squeeze(3), old.gather(3, taken).squeeze(3)
        ratio = (new - past).exp().clamp(max=1).detach()
        later = ratio.flip(2).cumprod(2).flip(2)
        policy = (part.advantage[..., None] * later * new).sum(dim=2).mean(dim=1)  # [b]
        gap = torch.where(old.isfinite(), old - now, 0.0)
        cloning = (old.exp() * gap).sum(dim=3).mean(dim=(1, 2))  # [b]
        want = want + (0.7 * policy + 0.3 * cloning).sum() / BATCH_SIZE
    found = torch.stack(terms).sum()
    assert found.item() == pytest.approx(want.item(), rel=1e-6)
    gradients = [torch.autograd.grad(each, [*module.parameters()]) for each in (found, want)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)
