"""LLR-BC's loss ``L_DRL + alpha L_BC``, its limits, and the options it refuses."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from lifelong_co_plugins.methods import llr_bc
from lifelong_co_plugins.methods.experience_replay import replayed as replay
from lifelong_co_plugins.methods.experience_replay import weights as weighing
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed
from tiny_runs import exact_run, parameters, same, tiny_config, tiny_learn
from torch import Tensor

import lifelong_co as lco
from lifelong_co.learner import train_batch, train_epoch
from lifelong_co.replay.consolidation import GUARD
from lifelong_co.runs.run import Run
from lifelong_co.tensors import records


def replaying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> tuple[Run, list[Replayed]]:
    """Return a float64 run at the first step of its third task, and what each pass replays.

    Its optimizer leaves parameters and gradients as they are.
    """
    run = exact_run(tiny_config(sizes=(6, 7, 6), **settings), tmp_path)
    learner = run.learner
    for task in (0, 1, 2):
        learner.task, learner.epoch, learner.batch = task, 1, 0
        run.method.before_task(learner)
        if task < 2:  # the last epoch only: it is the one that is recorded
            train_epoch(run, lambda: False, lambda *_: None)
    learner.epoch = 0
    monkeypatch.setattr(learner.optimizer, "step", lambda: None)
    passes: list[Replayed] = []
    original = llr_bc.behavior_of

    def spy(solver: Any, replayed: Replayed) -> Any:
        passes.append(replayed)
        return original(solver, replayed)

    monkeypatch.setattr(llr_bc, "behavior_of", spy)
    return run, passes


def gradients(run: Run) -> dict[str, Tensor]:
    """Return a copy of the parameters' gradients."""
    named = run.learner.solver.module.named_parameters()
    return {name: p.grad.clone() for name, p in named if p.grad is not None}


def assert_equal_gradients(got: dict[str, Tensor], want: dict[str, Tensor], to: float) -> None:
    """Compare relative to the largest gradient: those before a normalisation are but rounding."""
    assert got.keys() == want.keys()
    largest = max(float(value.abs().max()) for value in want.values())
    for name, value in want.items():
        torch.testing.assert_close(got[name], value, rtol=0, atol=to * largest, msg=name)


Drawn = list[tuple[Bundle, Any, Any]]
"""Each sampled bundle with the rows drawn from it and their factors."""


def drawing(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """Return a list that gets what is sampled; where all rows are replayed their factor is 1."""
    found: Drawn = []
    replayed, by_weight = weighing.Weights.replayed, weighing.by_weight
    drawn: list[Any] = []

    def spy_rows(*arguments: Any) -> Any:
        drawn[:] = by_weight(*arguments)
        return drawn

    def spy(self: Any, learner: Any, bundles: list[Bundle]) -> Replayed:
        drawn[:] = [(slice(None), torch.ones(each.steps[0].rows).double()) for each in bundles]
        result = replayed(self, learner, bundles)
        nothing = (torch.zeros(0).long(), torch.zeros(0).double())
        found.extend((each, *(pair or nothing)) for each, pair in zip(bundles, drawn, strict=True))
        return result

    monkeypatch.setattr(weighing, "by_weight", spy_rows)
    monkeypatch.setattr(weighing.Weights, "replayed", spy)
    return found


def by_hand(run: Run, drawn: Drawn, behavior: str, alpha: float) -> tuple[Tensor, Tensor]:
    """Return ``L_DRL`` and ``alpha L_BC`` (variance, reverse KL), written out, step by step."""
    solver = run.learner.solver
    rollout = solver.rollout(run.learner.draw(2), "sample", generator=run.actions)
    baseline = rollout.cost.mean(dim=1, keepdim=True)
    policy = ((rollout.cost - baseline) * rollout.log_likelihood).mean()
    totals, shares = [], []
    for bundle, rows, factors in drawn:
        for step in bundle.steps:
            whole = step.log_probs().exp()
            A = whole.shape[2]
            weights = 1 - whole.var(dim=2, correction=0) / ((A - 1) / A**2)
            weights = weights + (GUARD if behavior == "official" else 0.0)
            totals.append(weights.sum())
            shares.append(torch.zeros(()).double())
            if len(factors) == 0:
                continue
            encoding = solver.encode(records.select(step.instances, rows))
            p, q = whole[rows], solver.log_probs(encoding, step.state(rows)).exp()
            if behavior == "official":
                p, q = p.softmax(dim=2), q.softmax(dim=2)
            ratio = torch.where(p > 0, q / p.where(p > 0, 1.0), 1.0)
            distances = (q * ratio.log()).sum(dim=2)
            shares[-1] = (weights[rows] * factors[:, None] * distances).sum()
    pairs = list(zip(shares, totals, strict=True))
    if behavior == "official":
        loss = sum(share / total for share, total in pairs) / len(pairs)
    else:
        loss = sum(shares) / sum(totals)
    return policy, alpha * loss


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("behavior", ["official", "probabilities"])
@pytest.mark.parametrize("replay_rows", [1.0, 0.5])
@pytest.mark.parametrize("bundle_size", [1, 3])
def test_gradient_of_a_step_by_hand(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    problem: str,
    behavior: str,
    replay_rows: float,
    bundle_size: int,
) -> None:
    """It is that of ``L_DRL + alpha L_BC`` (eq. 2); both losses are reported."""
    options = {
        "behavior": behavior,
        "replay_size": 9,
        "replay_rows": replay_rows,
        "bundle_size": bundle_size,
    }
    run, _ = replaying(tmp_path, monkeypatch, problem=problem, alpha=7.0, **options)
    drawn = drawing(monkeypatch)
    streams = run.actions.get_state(), run.stream.generator.get_state()
    losses = train_batch(run)
    got = gradients(run)
    steps = [step for bundle, _, _ in drawn for step in bundle.steps]
    assert len(steps) == 9 if bundle_size == 1 else len(steps) > 3  # of three bundles
    assert {step.task for step in steps} == {0, 1}
    run.actions.set_state(streams[0])
    run.stream.generator.set_state(streams[1])
    policy, consolidation = by_hand(run, drawn, behavior, 7.0)
    assert losses["policy"].item() == pytest.approx(policy.item(), rel=1e-9)
    assert losses["consolidation"].item() == pytest.approx(consolidation.item(), rel=1e-8)
    assert consolidation.item() > 1e-6
    run.learner.optimizer.zero_grad()
    (policy + consolidation).backward()
    assert_equal_gradients(got, gradients(run), to=1e-6)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("replay_rows", [1.0, 0.5])
def test_shared_encoder_passes_give_the_same_loss(
    tmp_path: Path, problem: str, replay_rows: float
) -> None:
    """One unit per pass and all of a size together have the same loss and gradient."""
    results = []
    for tokens in (1, 2048, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(replay, "CPU_TOKENS", tokens)
            options = {"replay_size": 8, "replay_rows": replay_rows}
            folder = tmp_path / str(tokens)
            run, passes = replaying(folder, patch, problem=problem, **options)
            losses = train_batch(run)
        results.append((passes, losses["consolidation"], gradients(run)))
    (alone, loss, gradient), *others = results
    assert {len(each.bundles) for each in alone} == {1}
    assert len(alone) == 8 if replay_rows == 1 else 1 < len(alone) <= 8
    for passes, other_loss, other_gradient in others:
        assert sum(len(each.bundles) for each in passes) == len(alone)
        torch.testing.assert_close(other_loss, loss, rtol=1e-10, atol=0)
        assert_equal_gradients(other_gradient, gradient, to=1e-10)
    together = others[-1][0]
    bundles = [bundle for each in together for bundle in each.bundles]
    assert len(together) == len({bundle.steps[0].trajectories_and_actions for bundle in bundles})


@pytest.mark.parametrize("option", [{"alpha": 0.0}, {"buffer_size": 0}, {"replay_size": 0}])
def test_no_replay_gives_fine_tuning(tmp_path: Path, option: dict[str, float]) -> None:
    """It holds to the bit, as recording draws nothing from the run's random streams."""
    plain = tiny_learn(tiny_config("fine-tuning"), tmp_path / "fine-tuning")
    without = tiny_learn(tiny_config("llr-bc", **option), tmp_path / "without")
    replay = tiny_learn(tiny_config("llr-bc"), tmp_path / "llr-bc")
    assert same(parameters(without), parameters(plain))
    assert without.costs == plain.costs
    assert not same(parameters(replay), parameters(plain))


@pytest.mark.parametrize(
    ("option", "match"),
    [
        ({"alpha": -1.0}, "alpha: expected at least 0 and finite, got -1"),
        ({"alpha": math.nan}, "alpha: expected at least 0 and finite, got nan"),
        ({"buffer_size": -1}, "buffer_size: expected at least 0 and finite, got -1"),
        ({"replay_size": -2}, "replay_size: expected at least 0 and finite, got -2"),
        ({"replay_rows": 0.0}, r"replay_rows: expected a fraction in \(0, 1\], got 0"),
        ({"replay_rows": 1.5}, r"replay_rows: expected a fraction in \(0, 1\], got 1.5"),
        ({"replay_rows": math.nan}, "replay_rows: .* got nan"),
        ({"replay_size": 2.5}, r"replay_size: expected a whole number, got 2\.5"),
        ({"buffer_size": "many"}, "buffer_size: expected a whole number, got 'many'"),
        ({"alpha": "much"}, "alpha: expected a number, got 'much'"),
        ({"alpha": math.inf}, "alpha: expected at least 0 and finite, got inf"),
        ({"weighting": "confidence"}, "weighting 'confidence'"),
        ({"divergence": "rlk"}, "divergence 'rlk'.*Did you mean 'rkl'"),
        ({"behavior": "logits"}, "behavior 'logits'"),
        ({"buffer": "resevoir"}, "buffer 'resevoir'.*Did you mean 'reservoir'"),
    ],
)
def test_bad_option_is_refused(option: dict[str, Any], match: str) -> None:
    """The error comes when the method is built, in one line that names the option."""
    with pytest.raises(lco.LifelongError, match=match):
        lco.method("llr-bc", **option)
