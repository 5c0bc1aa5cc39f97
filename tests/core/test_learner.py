"""The loop as the paper writes it: what is called in which order, and what a step computes."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from tiny_runs import (
    BATCHES,
    EPOCHS,
    exact_run,
    fine_tuning,
    parameters,
    same,
    tiny_config,
)
from torch import Tensor

from lifelong_co.errors import ComponentError, Interrupted
from lifelong_co.evaluation import mean_cost
from lifelong_co.learner import after_epoch, learn, train_batch
from lifelong_co.protocols import LearnerState, Method, Objective
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tensors.finiteness import Watch

HOOKS = ("before_task", "before_epoch", "after_step", "after_epoch", "after_task")


def observed(run: Run) -> list[tuple[str, int, int, int]]:
    """Let a run's method note each call with task, epoch and batch; return the notes."""
    seen: list[tuple[str, int, int, int]] = []

    def noting(hook: str) -> Any:
        return lambda at: seen.append((hook, at.task, at.epoch, at.batch))

    run.method = attrs.evolve(run.method, **{hook: noting(hook) for hook in HOOKS})
    return seen


def test_hooks_are_called_in_the_order_of_the_algorithms(tmp_path: Path) -> None:
    """A task has epochs, an epoch has batches; the last epoch counts before its task ends."""
    run = fine_tuning(tmp_path)
    seen = observed(run)
    learn(run)
    expected = []
    for task in range(2):
        expected.append(("before_task", task, 0, 0))
        for epoch in range(EPOCHS):
            expected.append(("before_epoch", task, epoch, 0))
            expected += [("after_step", task, epoch, batch) for batch in range(BATCHES)]
            expected.append(("after_epoch", task, epoch, BATCHES))
        expected.append(("after_task", task, EPOCHS, 0))
    assert seen == expected
    assert run.steps == 2 * EPOCHS * BATCHES


def test_resumed_run_that_has_finished_learns_nothing(tmp_path: Path) -> None:
    """It calls no hook and changes nothing."""
    done = learn(fine_tuning(tmp_path))
    assert done.learner.learned == len(done.config.tasks)
    again = prepare(done.config, tmp_path / "run", resume=True)
    seen = observed(again)
    learn(again)
    assert not seen
    assert same(parameters(again), parameters(done))
    assert again.costs == done.costs


def test_terms_are_added_to_the_policy_loss(tmp_path: Path) -> None:
    """The gradient is that of the sum of all terms; losses of the same name are summed."""
    runs = [exact_run(tiny_config("fine-tuning"), tmp_path / name) for name in "ab"]
    for run in runs:
        run.learner.optimizer = torch.optim.SGD(run.learner.solver.module.parameters(), lr=1.0)

    def squares(learner: LearnerState) -> Tensor:
        return torch.stack([(p**2).sum() for p in learner.solver.module.parameters()]).sum()

    def terms(learner: LearnerState, rollout: Any) -> Any:  # noqa: ARG001
        yield "decay", 2 * squares(learner)
        yield "decay", 3 * squares(learner)

    def objective(run: Run) -> Objective:
        policy = run.objective.loss
        return attrs.evolve(
            run.objective, loss=lambda *given: policy(*given) + 5 * squares(run.learner)
        )

    expected = float(5 * squares(runs[0].learner).detach())
    runs[0].method = Method(loss_terms=terms)
    runs[1].objective = objective(runs[1])
    losses = [train_batch(run) for run in runs]
    assert float(losses[0]["decay"]) == pytest.approx(expected)
    assert float(losses[0]["policy"] + losses[0]["decay"]) == pytest.approx(
        float(losses[1]["policy"])
    )
    for name, value in parameters(runs[0]).items():
        torch.testing.assert_close(value, parameters(runs[1])[name], rtol=1e-9, atol=1e-12)


def test_stopped_run_is_saved_before_the_error(tmp_path: Path) -> None:
    """The error names the folder, and the checkpoint has all steps so far."""
    run = fine_tuning(tmp_path)
    with pytest.raises(Interrupted) as interrupted:
        learn(run, stop=lambda: run.steps == 3)
    assert interrupted.value.folder == tmp_path / "run"
    resumed = prepare(run.config, tmp_path / "run", resume=True)
    assert (resumed.steps, resumed.learner.epoch, resumed.learner.batch) == (3, 1, 1)
    assert same(parameters(resumed), parameters(run))


def test_on_step_gets_the_losses_of_every_step(tmp_path: Path) -> None:
    """The history has their means over each epoch."""
    run = fine_tuning(tmp_path)
    costs: list[float] = []
    learn(run, on_step=lambda _, losses: costs.append(float(losses["cost"])))
    means = [sum(costs[i : i + BATCHES]) / BATCHES for i in range(0, len(costs), BATCHES)]
    assert [entry["train_cost"] for entry in run.history] == pytest.approx(means)
    assert [(e["learning"], e["epoch"]) for e in run.history] == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_observer_that_writes_is_refused_in_the_epoch_in_which_it_begins(tmp_path: Path) -> None:
    """Also if it begins in the last epoch: the parameters would learn from wrong solutions."""
    run = fine_tuning(tmp_path)

    def writes(state: Any, log_probs: Tensor) -> None:  # noqa: ARG001
        state.visited.logical_not_()

    run.method = Method(observer=lambda learner, _: writes if learner.last_epoch else None)
    with pytest.raises(ComponentError, match=r"^method 'fine-tuning': .* changes state\.visited"):
        learn(run)
    assert (run.learner.epoch, run.learner.batch) == (1, 0)


def test_training_cost_is_that_of_the_rollout(tmp_path: Path) -> None:
    """An objective that changes the costs in place changes no cost of the log."""
    runs = [fine_tuning(tmp_path / name) for name in ("own", "mine")]
    inner = runs[1].objective

    def loss(instances: Any, rollout: Any) -> Tensor:
        return inner.loss(instances, attrs.evolve(rollout, cost=rollout.cost.mul_(2)))

    runs[1].objective = Objective(loss=loss)
    own, mine = (float(train_batch(run)["cost"]) for run in runs)
    assert own == mine


def test_parameters_after_each_task_are_kept(tmp_path: Path) -> None:
    """They give the costs of that row of the matrix."""
    run = learn(fine_tuning(tmp_path))
    rows = {(row.learning, row.tested): row.cost for row in run.costs if row.epoch == EPOCHS}
    for learned in (1, 2):
        solver = load_solver(tmp_path / "run", after=learned)
        for tested in (1, 2):
            assert mean_cost(solver, run.tests[tested - 1]) == rows[learned, tested]


def test_every_epoch_ends_with_a_save(tmp_path: Path) -> None:
    """It holds with and without tests after the epoch."""
    run = fine_tuning(tmp_path, curve_every=100)
    run.sums = {"cost": 8.0, "policy": 2.0, "seconds": 1.0}
    run.steps = run.learner.batch = BATCHES
    after_epoch(run, lambda line: None)  # noqa: ARG005
    assert run.history == [
        {"learning": 1, "epoch": 1, "train_cost": 4.0, "losses": {"policy": 1.0}, "seconds": 1.0}
    ]
    assert not run.costs
    resumed = prepare(run.config, tmp_path / "run", resume=True)
    assert resumed.history == run.history
    assert (resumed.learner.epoch, resumed.learner.batch) == (1, 0)


def test_watching_changes_no_result(tmp_path: Path) -> None:
    """Reading numbers late gives the same costs as reading them at once."""
    runs = [fine_tuning(tmp_path / str(late)) for late in (False, True)]
    runs[1].watch = Watch(late=True)
    first, second = (learn(run) for run in runs)
    assert first.costs == second.costs
    assert same(parameters(first), parameters(second))
