"""LLR-BC's loss ``L_DRL + alpha L_BC``, its limits, and the options it refuses."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods import llr_bc
from lifelong_co_plugins.methods.experience_replay import behaviors as replay
from tiny_runs import exact_run, parameters, same, tiny_config, tiny_learn
from torch import Tensor

import lifelong_co as lco
from lifelong_co.learner import train_batch, train_epoch
from lifelong_co.replay.experience import record
from lifelong_co.runs.run import Run
from lifelong_co.tensors import records

Replay = list[tuple[Any, Any]]


def replaying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> tuple[Run, list[Replay]]:
    """Return a float64 run at the first step of its third task, and what each pass replays.

    Its optimizer leaves parameters and gradients as they are.
    """
    run = exact_run(tiny_config(sizes=(5, 6, 5), **settings), tmp_path)
    learner = run.learner
    for task in (0, 1, 2):
        learner.task, learner.epoch, learner.batch = task, 1, 0
        run.method.before_task(learner)
        if task < 2:  # the last epoch only: it is the one that is recorded
            train_epoch(run, lambda: False, lambda *_: None)
    learner.epoch = 0
    monkeypatch.setattr(learner.optimizer, "step", lambda: None)
    passes: list[Replay] = []
    original = llr_bc.behaviors

    def spy(learner: Any, units: list[Any], chosen: list[Any]) -> Any:
        passes.append(list(zip(units, chosen, strict=True)))
        return original(learner, units, chosen)

    monkeypatch.setattr(llr_bc, "behaviors", spy)
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


def by_hand(run: Run, units: Replay, behavior: str, alpha: float) -> tuple[Tensor, Tensor]:
    """Return ``L_DRL`` and ``alpha L_BC`` (variance, reverse KL), written out, unit by unit."""
    solver = run.learner.solver
    rollout = solver.rollout(run.learner.draw(2), "sample", generator=run.actions)
    baseline = rollout.cost.mean(dim=1, keepdim=True)
    policy = ((rollout.cost - baseline) * rollout.log_likelihood).mean()
    weights, distances = [], []
    for unit, rows in units:
        encoding = solver.encode(records.select(unit.instances, rows))
        p, q = unit.log_probs(rows).exp(), solver.log_probs(encoding, unit.state(rows)).exp()
        A = p.shape[2]
        weights.append(1 - p.var(dim=2, correction=0) / ((A - 1) / A**2))
        if behavior == "official":
            p, q = p.softmax(dim=2), q.softmax(dim=2)
        ratio = torch.where(p > 0, q / p.where(p > 0, 1.0), 1.0)
        distances.append((q * ratio.log()).sum(dim=2))
    pairs = list(zip(weights, distances, strict=True))
    if behavior == "official":
        loss = sum((w * d).sum() / w.sum() for w, d in pairs) / len(pairs)
    else:
        loss = sum((w * d).sum() for w, d in pairs) / sum(w.sum() for w in weights)
    return policy, alpha * loss


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("behavior", ["official", "probabilities"])
@pytest.mark.parametrize("replay_rows", [1.0, 0.5])
@pytest.mark.parametrize("bundle_size", [1, 2])
def test_a_steps_gradient_by_hand(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    problem: str,
    behavior: str,
    replay_rows: float,
    bundle_size: int,
) -> None:
    """It is that of ``L_DRL + alpha L_BC`` (eq. 2), and the losses reported are these two."""
    options = {
        "behavior": behavior,
        "replay_size": 6,
        "replay_rows": replay_rows,
        "row_choice": "uniform",
        "bundle_size": bundle_size,
    }
    run, passes = replaying(tmp_path, monkeypatch, problem=problem, alpha=7.0, **options)
    streams = run.actions.get_state(), run.stream.generator.get_state()
    losses = train_batch(run)
    got = gradients(run)
    units = [pair for each in passes for pair in each]
    assert len(units) == 6 if bundle_size == 1 else len(units) > 3  # of three bundles
    assert {unit.task for unit, _ in units} == {0, 1}
    run.actions.set_state(streams[0])
    run.stream.generator.set_state(streams[1])
    policy, consolidation = by_hand(run, units, behavior, 7.0)
    assert losses["policy"].item() == pytest.approx(policy.item(), rel=1e-9)
    assert losses["consolidation"].item() == pytest.approx(consolidation.item(), rel=1e-6)
    assert consolidation.item() > 1e-6
    run.learner.optimizer.zero_grad()
    (policy + consolidation).backward()
    assert_equal_gradients(got, gradients(run), to=1e-6)  # the official 1e-9 in the weights


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("replay_rows", [1.0, 0.5])
def test_how_units_share_encoder_passes_does_not_matter(
    tmp_path: Path, problem: str, replay_rows: float
) -> None:
    """One unit a pass, or all of a size together: the loss and the gradient are the same."""
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
    assert [len(each) for each in alone] == [1] * 8
    for passes, other_loss, other_gradient in others:
        assert sum(len(each) for each in passes) == 8
        torch.testing.assert_close(other_loss, loss, rtol=1e-10, atol=0)
        assert_equal_gradients(other_gradient, gradient, to=1e-10)
    together = others[-1][0]
    assert len(together) == len({unit.behavior.shape[1:] for each in together for unit, _ in each})


@given(
    shapes=st.lists(st.tuples(st.integers(1, 9), st.sampled_from([5, 20, 600])), max_size=12),
    whole=st.booleans(),
)
def test_groups_of_units_fit_a_pass(shapes: list[tuple[int, int]], whole: bool) -> None:
    """Every unit is in one group, with others of its size, within the limit or on its own."""
    problem = lco.problem("tsp")
    units = []
    for B, n in shapes:
        instances = problem.instances(nodes=torch.zeros(B, n, 2))
        behavior = torch.zeros(B, 1, n)
        units.append(record(0, instances, problem.reset(instances, 1), behavior))
    rows: list[Any] = [slice(None) if whole else torch.tensor([0]) for _ in units]
    groups = replay.batches_of_one_size(units, rows, torch.nn.Identity())
    assert sorted(i for group in groups for i in group) == list(range(len(units)))
    for group in groups:
        assert len({shapes[i][1] for i in group}) == 1
        tokens = sum((shapes[i][0] if whole else 1) * shapes[i][1] for i in group)
        assert len(group) == 1 or tokens <= replay.CPU_TOKENS


@pytest.mark.parametrize("option", [{"alpha": 0.0}, {"buffer_size": 0}, {"replay_size": 0}])
def test_without_replay_it_is_fine_tuning(tmp_path: Path, option: dict[str, float]) -> None:
    """To the bit: recording draws nothing from the run's random streams."""
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
def test_bad_options_are_refused(option: dict[str, Any], match: str) -> None:
    """When the method is built, in one line that names the option."""
    with pytest.raises(lco.LifelongError, match=match):
        lco.method("llr-bc", **option)
