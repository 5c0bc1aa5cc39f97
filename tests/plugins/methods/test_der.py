"""DER++: the distance of logits, both terms of the loss, and what the buffer takes in."""

import math
import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods import der
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from tiny_runs import (
    BATCH_SIZE,
    BATCHES,
    EPOCHS,
    exact_run,
    parameters,
    same,
    tiny_config,
    tiny_learn,
)

import lifelong_co as lco
from lifelong_co.learner import train_batch
from lifelong_co.replay.experience import record
from lifelong_co.runs.run import Run
from lifelong_co.seeding import generator
from lifelong_co.tensors import records

STEPS = {5: 3, 6: 4}  # steps of the TSP with a choice: the first and last node are forced


def test_actions_infeasible_for_one_of_two_do_not_count() -> None:
    """INViT sees only the nearest nodes; what either cannot do adds nothing, and no NaN."""
    teacher = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]).log()
    learner = torch.tensor([[-1.0, -math.inf, -0.5], [-0.7, -math.inf, -math.inf]])
    learner.requires_grad_()
    found = der.logit_distance(teacher, learner)
    assert found.tolist() == [0.0, 0.0]  # one action in common: nothing to compare
    found.sum().backward()
    assert learner.grad is not None
    assert bool(learner.grad.isfinite().all())


@given(seed=st.integers(0, 999), share=st.sampled_from([0.3, 0.7, 1.0]))
def test_distance_is_the_squared_difference_of_centered_logits(seed: int, share: float) -> None:
    """It is the mean over feasible actions."""
    stream = torch.Generator().manual_seed(seed)
    mask = torch.rand((2, 3, 6), generator=stream) < share
    mask[..., 2] = True
    logits = torch.randn((2, 2, 3, 6), generator=stream, dtype=torch.float64)
    teacher, learner = (
        (each + 7 * i).masked_fill(~mask, -torch.inf).log_softmax(dim=-1)
        for i, each in enumerate(logits)
    )
    found = der.logit_distance(teacher, learner)
    for place in torch.cartesian_prod(torch.arange(2), torch.arange(3)).tolist():
        b, s = place
        gap = (logits[1] - logits[0])[b, s][mask[b, s]]
        assert found[b, s].item() == pytest.approx(float(gap.var(correction=0)), abs=1e-9)


def test_gradient_is_zero_where_actions_are_infeasible() -> None:
    """And zero there."""
    logits = torch.randn(2, 3, 5, requires_grad=True)
    mask = torch.tensor([True, False, True, True, False])
    learner = logits.masked_fill(~mask, -torch.inf).log_softmax(dim=-1)
    teacher = torch.zeros(2, 3, 5).masked_fill(~mask, -torch.inf).log_softmax(dim=-1)
    der.logit_distance(teacher, learner).sum().backward()
    assert logits.grad is not None
    assert bool(logits.grad.isfinite().all())
    assert not bool(logits.grad[..., ~mask].any())
    assert bool(logits.grad[..., mask].any())


def replaying(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[Run, list[Any], list[Any]]:
    """Return a float64 run in its second task, and what is replayed for either term."""
    run = exact_run(tiny_config("der++", sizes=(5, 6), **options), folder)
    learner = run.learner
    run.method.before_task(learner)
    for learner.batch in range(2):
        train_batch(run)
    learner.task, learner.batch = 1, 0
    run.method.before_task(learner)
    monkeypatch.setattr(learner.optimizer, "step", lambda: None)
    units: list[Any] = []
    batches: list[Any] = []
    measure, replay = der.distance, der.ReplayObjective.loss

    def spy_units(solver: Any, replayed: Any, diverge: Any, weigh: Any) -> Any:
        units.extend((step, each.rows) for each in replayed.bundles for step in each.steps)
        return measure(solver, replayed, diverge, weigh)

    def spy_batches(self: Any, learner: Any, instances: Any, purpose: str) -> Any:
        batches.append(instances)
        return replay(self, learner, instances, purpose)

    monkeypatch.setattr(der, "distance", spy_units)
    monkeypatch.setattr(der.ReplayObjective, "loss", spy_batches)
    return run, units, batches


@pytest.mark.parametrize("weighting", ["uniform", "variance"])
@pytest.mark.parametrize("divergence", ["logits", "kl"])
@pytest.mark.parametrize("replay_rows", [1.0, 0.5])
def test_gradient_of_a_step_by_hand(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    divergence: str,
    replay_rows: float,
    weighting: str,
) -> None:
    """It is that of ``L_DRL + alpha D + beta L_DRL(replayed)``, written out."""
    options = {
        "divergence": divergence,
        "weighting": weighting,
        "replay_rows": replay_rows,
        "replay_size": 3,
    }
    run, units, batches = replaying(tmp_path, monkeypatch, alpha=0.3, beta=0.7, **options)
    learner, module = run.learner, run.learner.solver.module
    streams = run.actions.get_state(), run.stream.generator.get_state()
    losses = train_batch(run)
    got = {name: value.grad.clone() for name, value in module.named_parameters()}
    assert len(units) == 3
    assert len(batches) == 1
    run.actions.set_state(streams[0])
    run.stream.generator.set_state(streams[1])
    stream = generator(learner.seed, "replayed actions 1 0 0 of a unit")
    policies = []
    for instances, actions in ((learner.draw(1), run.actions), (batches[0], stream)):
        rollout = learner.solver.rollout(instances, "sample", generator=actions)
        advantage = rollout.cost - rollout.cost.mean(dim=1, keepdim=True)
        policies.append((advantage * rollout.log_likelihood).mean())
    distances = []
    for unit, rows in units:
        encoding = learner.solver.encode(records.select(unit.instances, rows))
        behavior = learner.solver.log_probs(encoding, unit.state(rows))
        teacher = unit.log_probs(rows)
        feasible = teacher.isfinite()
        gap = torch.where(feasible, behavior, 0.0) - torch.where(feasible, teacher, 0.0)
        weights = torch.ones(teacher.shape[:2], dtype=teacher.dtype)
        if weighting == "variance":
            weights = lco.weighting("variance")(teacher.exp())
        if divergence == "kl":
            each = -(teacher.exp() * gap).sum(dim=2)
        else:
            count = feasible.sum(dim=2)
            each = gap.square().sum(dim=2) / count - (gap.sum(dim=2) / count).square()
        distances.append((weights * each).sum() / weights.sum())
    want = {
        "policy": policies[0],
        "behavior": 0.3 * sum(distances) / 3,
        "replay": 0.7 * policies[1],
    }
    assert losses.keys() - {"cost"} == want.keys()
    for name, value in want.items():
        assert float(losses[name]) == pytest.approx(value.item(), rel=1e-7), name
    assert want["behavior"].item() > 1e-9
    module.zero_grad()
    sum(want.values()).backward()
    for name, value in module.named_parameters():
        torch.testing.assert_close(got[name], value.grad, rtol=1e-6, atol=1e-9, msg=name)


def test_weights_of_certain_behavior_only_give_no_term() -> None:
    """A weighted mean whose weights are all 0 is 0, not NaN."""
    certain = torch.tensor([[[1.0, 0.0]]]).log()
    learner = torch.tensor([[[0.5, 0.5]]]).log()
    solver: Any = None
    replayed: Any = SimpleNamespace(teacher=certain, sizes=(1,))
    weigh = lco.weighting("variance")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(der, "behavior", lambda solver, replayed: learner)  # noqa: ARG005
        assert der.distance(solver, replayed, lco.divergence("kl"), weigh).item() == 0


def test_every_step_of_every_epoch_is_offered(tmp_path: Path) -> None:
    """Replay begins with the second step, from the buffer before the step."""
    losses: list[set[str]] = []
    offered: list[int] = []

    def watch(run: Run, each: dict[str, torch.Tensor]) -> None:
        losses.append(set(each))
        offered.append(run.method.state_dict()["buffer"]["seen"])

    run = tiny_learn(tiny_config("der++", sizes=(5, 6)), tmp_path, on_step=watch)
    steps = EPOCHS * BATCHES
    want = [STEPS[5]] * steps + [STEPS[6]] * steps
    assert offered == [sum(want[: i + 1]) for i in range(len(want))]
    assert losses == [{"cost", "policy"}] + [{"cost", "policy", "behavior", "replay"}] * (
        2 * steps - 1
    )
    held = run.method.state_dict()["buffer"]["items"]
    assert Counter(unit["task"] for unit in held) == {0: steps * STEPS[5], 1: steps * STEPS[6]}


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"alpha": 0.0}, {"replay"}),
        ({"beta": 0.0}, {"behavior"}),
        ({"replay_size": 0}, {"replay"}),
        ({"buffer_size": 0}, set()),
        ({"alpha": 0.0, "beta": 0.0}, set()),
    ],
)
def test_either_term_can_be_left_out(
    tmp_path: Path, options: dict[str, Any], names: set[str]
) -> None:
    """Without both terms, the method is fine-tuning to the bit."""
    found: set[str] = set()
    run = tiny_learn(
        tiny_config("der++", **options),
        tmp_path / "one",
        on_step=lambda _, each: found.update(each),
    )
    assert found - {"cost", "policy"} == names
    if not names:
        plain = tiny_learn(tiny_config("fine-tuning"), tmp_path / "plain")
        assert same(parameters(run), parameters(plain))


def test_replay_is_judged_by_the_solver_of_the_present_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The buffer has instances of the present task, which the solver at its start cannot solve."""
    started: list[tuple[int, int]] = []

    def start(self: der.ReplayObjective, learner: Any) -> Any:
        started.append((learner.task, learner.epoch))
        return original(self, learner)

    original = der.ReplayObjective.start
    monkeypatch.setattr(der.ReplayObjective, "start", start)
    tiny_learn(tiny_config("der++", sizes=(5, 6)), tmp_path)
    assert len(started) == 2 * (1 + EPOCHS)  # at the start of each task, and after each epoch
    assert started[1][0] == 0


def test_run_can_start_with_the_buffer_of_another_run(tmp_path: Path) -> None:
    """The buffer has LLR-BC's experiences before the first step."""
    other = tiny_learn(tiny_config("llr-bc"), tmp_path / "other")
    run = exact_run(tiny_config("der++"), tmp_path)
    run.method.adopt(run.learner, other.method.state_dict())
    run.method.before_task(run.learner)
    held = len(other.method.state_dict()["buffer"]["items"])
    assert run.method.state_dict()["buffer"]["seen"] == held > 0
    with pytest.raises(lco.ConfigError, match="without"):
        lco.method("feng").adopt(run.learner, other.method.state_dict())


@pytest.mark.parametrize(
    ("fraction", "rows"), [(0.01, [1]), (0.2, [1, 1, 1, 1]), (0.25, [1] * 5), (0.5, [2] * 5)]
)
def test_replay_rows_is_the_share_of_instances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fraction: float, rows: list[int]
) -> None:
    """Instances of a step differ, change from draw to draw, and there is at least one in all."""
    found: list[list[Any]] = []
    original = der.uniform_rows

    def spy(module: Any, bundles: Any, *others: Any) -> Any:
        replayed = original(module, bundles, *others)
        if len(bundles) == 5:  # fewer in the first steps of the run
            found.append([each.rows for each in replayed.bundles])
        return replayed

    monkeypatch.setattr(der, "uniform_rows", spy)
    tiny_learn(tiny_config("der++", replay_rows=fraction, replay_size=5), tmp_path)
    assert len(found) > EPOCHS * BATCHES
    assert all([len(index) for index in each] == rows for each in found)
    chosen = torch.cat([index for each in found for index in each])
    assert 1 < len(set(chosen.tolist())) <= BATCH_SIZE


@given(
    sizes=st.lists(st.integers(1, 70), min_size=1, max_size=6),
    fraction=st.floats(0.001, 1.0),
    seed=st.integers(0, 999),
)
def test_rows_are_spread_evenly(sizes: list[int], fraction: float, seed: int) -> None:
    """Each bundle has its share of all instances to within one, in the bundles' order."""
    tsp = lco.problem("tsp")
    bundles = []
    for B in sizes:
        instances = tsp.instances(nodes=torch.rand(B, 2, 2))
        step = record(0, instances, tsp.reset(instances, 1), torch.zeros(B, 1, 2))
        bundles.append(Bundle(0, (step,)))
    stream = random.Random(seed)
    found = der.uniform_rows(torch.nn.Identity(), bundles, fraction, stream).bundles
    assert [each.steps for each in found] == [
        bundle.steps for bundle in bundles if any(bundle.steps is each.steps for each in found)
    ]
    total = 0
    for each in found:
        B = each.steps[0].rows
        index = torch.arange(B)[each.rows]
        assert bool((index.diff() > 0).all())
        assert abs(len(index) - fraction * B) <= 1.5  # the first may be ahead
        assert each.count == len(index)
        total += len(index)
    assert abs(total - fraction * sum(sizes)) <= 0.5 or total == 1
