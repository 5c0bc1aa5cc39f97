"""The loop as the paper writes it: what is called in which order, and what a step computes."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from tiny_invit import TINY
from tiny_runs import (
    BATCHES,
    EPOCHS,
    exact_run,
    parameters,
    same,
    stopped_and_resumed,
    tiny_config,
    tiny_learn,
)
from torch import Tensor

from lifelong_co import learner
from lifelong_co.config.run_config import Config
from lifelong_co.config.solver_options import INVIT_OPTIONS, INVIT_SETTINGS
from lifelong_co.errors import ComponentError, Interrupted, InvalidRolloutError, NotFiniteError
from lifelong_co.evaluation import mean_cost
from lifelong_co.learner import after_epoch, learn, thinned, train_batch
from lifelong_co.protocols import LearnerState, Method, Objective, Rollout
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


def fine_tuning(folder: Path, **settings: Any) -> Run:
    """Return a run of fine-tuning about to begin."""
    config = attrs.evolve(tiny_config("fine-tuning", sizes=(5, 6)), **settings)
    return prepare(config, folder / "run")


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


def test_training_on_images_takes_eight_times_the_batch(tmp_path: Path) -> None:
    """The method's batch is augmented before it is solved."""
    sizes = []
    for images in (False, True):
        run = fine_tuning(tmp_path / str(images), images=images)
        policy = run.objective.loss

        def noting(instances: Any, rollout: Any, policy: Any = policy) -> Tensor:
            sizes.append((len(instances.nodes), len(rollout.cost)))
            loss: Tensor = policy(instances, rollout)
            return loss

        run.objective = attrs.evolve(run.objective, loss=noting)
        train_batch(run)
    assert sizes == [(4, 4), (32, 32)]


def test_random_images_are_drawn_with_the_instances(tmp_path: Path) -> None:
    """They follow from the seed, differ from batch to batch, and begin with the instances."""
    batches: list[list[Tensor]] = []
    for symmetries in ("square", "random", "random"):
        run = fine_tuning(
            tmp_path / str(len(batches)), images=True, symmetries=symmetries, augment=True
        )
        seen: list[Tensor] = []
        policy = run.objective.loss

        def noting(
            instances: Any, rollout: Any, policy: Any = policy, seen: list[Tensor] = seen
        ) -> Tensor:
            seen.append(instances.nodes)
            loss: Tensor = policy(instances, rollout)
            return loss

        run.objective = attrs.evolve(run.objective, loss=noting)
        learn(run)
        batches.append(seen)
    square, random, again = batches
    assert all(torch.equal(*pair) for pair in zip(random, again, strict=True))
    assert torch.equal(square[0][:4], random[0][:4])
    assert not torch.equal(square[0][4:], random[0][4:])
    legs = [(nodes[:, 1] - nodes[:, 0]).norm(dim=1) for nodes in random]
    for leg in legs:  # an isometry
        torch.testing.assert_close(leg, leg[:4].repeat(8), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "factors"),
    [("constant", [1, 1, 1, 1]), ("linear", [1, 0.75, 0.5, 0.25]),
     ("cosine", [1, (2 + 2**0.5) / 4, 0.5, (2 - 2**0.5) / 4])],
)  # fmt: skip
def test_schedule_lowers_the_rate_in_each_task_by_step(
    name: str, factors: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It multiplies the decayed rate, starts again in each task, and resumes to the same bits."""
    config = attrs.evolve(
        tiny_config("fine-tuning"), learning_rate=0.1, learning_rate_decay=0.5, schedule=name
    )
    rates: list[float] = []
    step = torch.optim.Adam.step

    def noting(optimizer: Any, *given: Any) -> Any:
        rates.append(optimizer.param_groups[0]["lr"])
        return step(optimizer, *given)

    monkeypatch.setattr(torch.optim.Adam, "step", noting)
    whole = tiny_learn(config, tmp_path)
    decayed = [0.1, 0.1, 0.05, 0.05]
    expected = [rate * factor for rate, factor in zip(decayed, factors, strict=True)]
    assert rates == pytest.approx(expected * 2)
    resumed = stopped_and_resumed(config, tmp_path, after=3)
    assert same(parameters(whole), parameters(resumed))


def test_learning_rate_decays_after_each_epoch_of_a_task(tmp_path: Path) -> None:
    """As torch's ExponentialLR, and again from its start in the next task; it is resumed."""
    config = attrs.evolve(tiny_config("fine-tuning"), learning_rate=0.1, learning_rate_decay=0.9)
    config = attrs.evolve(config, tasks=tuple(attrs.evolve(t, epochs=4) for t in config.tasks))
    rates: list[float] = []

    def note(run: Any, losses: Any) -> None:  # noqa: ARG001
        [group] = run.learner.optimizer.param_groups
        rates.append(group["lr"])

    run = learn(prepare(config, tmp_path / "run"), on_step=note)
    optimizer = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    expected = []
    for _ in range(4):
        expected += schedule.get_last_lr() * BATCHES
        optimizer.step()
        schedule.step()
    assert rates == expected * 2
    resumed = stopped_and_resumed(config, tmp_path, after=7 * BATCHES + 1)
    assert same(parameters(resumed), parameters(run))


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_run_with_the_settings_of_invit_resumes_to_the_same_bits(
    tmp_path: Path, problem: str
) -> None:
    """AdamW, a decaying rate, random images in training, tests and trial."""
    config = attrs.evolve(
        tiny_config("llr-bc", problem),
        solver="invit",
        solver_options={**TINY, **INVIT_OPTIONS, "trial_batches": 2},
        **INVIT_SETTINGS,
    )
    whole = learn(prepare(config, tmp_path / "run"))
    resumed = stopped_and_resumed(config, tmp_path, after=2 * BATCHES + 1)
    assert same(parameters(resumed), parameters(whole))
    assert [attrs.astuple(cost) for cost in resumed.costs] == [
        attrs.astuple(cost) for cost in whole.costs
    ]
    assert not same(parameters(whole), whole.learner.initial)


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


@pytest.mark.parametrize("method", ["fine-tuning", "restart"])
def test_tests_are_taken_when_they_are_due(tmp_path: Path, method: str) -> None:
    """After a task all are tested; during it those learned, or one if the method restarts."""
    config = attrs.evolve(tiny_config(method, sizes=(5, 6)), curve_every=1)
    lines: list[str] = []
    run = learn(prepare(config, tmp_path / "run"), log=lines.append)
    tested = [(row.learning, row.epoch, row.tested) for row in run.costs]
    second = [(2, 1, 2)] if method == "restart" else [(2, 1, 1), (2, 1, 2)]
    assert tested == [(1, 1, 1), (1, 2, 1), (1, 2, 2), *second, (2, 2, 1), (2, 2, 2)]
    assert [line.partition(":")[0] for line in lines] == [
        "U5 epoch 1", "U5 epoch 2", "U6 epoch 1", "U6 epoch 2",
    ]  # fmt: skip
    last = run.costs[-1]
    assert last.cost == mean_cost(run.learner.solver, run.tests[1])
    assert f"{last.name} {last.cost:.3f}" in lines[-1]


def sparse_config(method: str = "fine-tuning") -> Config:
    """Return a run of four tasks that tests after each task only this one and the next."""
    config = attrs.evolve(tiny_config(method, sizes=(5, 6, 7, 8)), curve_every=1)
    return attrs.evolve(config, tests_after="next")


def test_run_can_test_only_the_next_task(tmp_path: Path) -> None:
    """All tasks are tested at the end; the costs are those of a run with all tests."""
    run = learn(prepare(sparse_config(), tmp_path / "next"))
    tested = [(row.learning, row.tested) for row in run.costs if row.epoch == EPOCHS]
    assert tested == [
        (1, 1),
        (1, 2),
        (2, 2),
        (2, 3),
        (3, 3),
        (3, 4),
        *((4, j) for j in range(1, 5)),
    ]
    assert [(row.learning, row.tested) for row in run.costs if row.epoch == 1] == [
        (i, i) for i in range(1, 5)
    ]
    whole = learn(prepare(attrs.evolve(run.config, tests_after="all"), tmp_path / "all"))
    assert set(run.costs) < set(whole.costs)
    assert same(parameters(run), parameters(whole))
    written = json.loads((tmp_path / "next" / "metrics.json").read_text())
    assert written["not_measured"] == ["AMF"]
    assert written["metrics"]["AMF"] is None
    assert len(written["tests"]) == len(tested)


@pytest.mark.parametrize("method", ["fine-tuning", "llr-bc", "multi-task-batch"])
def test_killed_last_test_alone_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """A resumed run takes no step; then all bytes but the times are those of an unbroken run."""
    config = sparse_config(method)
    whole = learn(prepare(config, tmp_path / "whole"))

    def killed(*_: Any, **__: Any) -> float:
        raise KeyboardInterrupt

    broken = prepare(config, tmp_path / "broken")
    with monkeypatch.context() as patch:

        def break_at_the_end(run: Run, losses: Any) -> None:  # noqa: ARG001
            if run.steps == whole.steps:
                patch.setattr(learner, "mean_cost", killed)

        with pytest.raises(KeyboardInterrupt):
            learn(broken, on_step=break_at_the_end)
    steps: list[int] = []
    again = prepare(config, tmp_path / "broken", resume=True)
    learn(again, on_step=lambda run, _: steps.append(run.steps))
    assert not steps
    assert same(parameters(again), parameters(whole))
    for name in ("costs.csv", "costs.csv.sha256", "metrics.json", "config.toml"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


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


def test_metrics_of_many_tasks_are_written_ever_more_rarely() -> None:
    """After each of the first 32 tasks, then after 16 tasks between two powers of two."""
    times = [number for number in range(1, 1025) if thinned(number)]
    assert times[:33] == [*range(1, 33), 34]
    for power in (32, 64, 512):
        assert sum(power <= number < 2 * power for number in times) == 16
    assert {32, 64, 512, 1024} < set(times)


def test_line_of_a_test_is_short(tmp_path: Path) -> None:
    """It has the last twelve of many tasks."""
    config = attrs.evolve(tiny_config("fine-tuning", sizes=(5,) * 14), tests=1)
    tasks = [attrs.evolve(task, epochs=1, name=f"T{i}") for i, task in enumerate(config.tasks, 1)]
    lines: list[str] = []
    run = prepare(attrs.evolve(config, tasks=tuple(tasks)), tmp_path / "run")
    learner.test(run, range(14), lines.append)
    assert lines[0].startswith("T1 epoch 0: cost … 2 tasks  T3 ")
    assert len(run.costs) == 14


def poisoned(run: Run, step: int, where: str) -> None:
    """Make a number of a step NaN: the policy loss, a term, a gradient, a parameter or the cost."""
    module = run.learner.solver.module
    policy, method, parameters = run.objective.loss, run.method, list(module.parameters())

    def here(name: str) -> bool:
        return run.steps == step and where == name

    def loss(instances: Any, rollout: Rollout) -> Tensor:
        if here("cost"):
            rollout.cost.fill_(torch.nan)
        value: Tensor = policy(instances, rollout)
        return value * torch.nan if here("policy") else value

    def terms(learner: LearnerState, rollout: Rollout) -> Any:  # noqa: ARG001
        yield "term", parameters[0].sum() * (torch.nan if here("term") else 0)
        if here("gradient"):
            parameters[0].grad = torch.full_like(parameters[0], torch.inf)

    def after_step(learner: LearnerState) -> None:  # noqa: ARG001
        if here("parameter"):
            parameters[0].data.flatten()[0] = torch.nan

    run.objective = attrs.evolve(run.objective, loss=loss)
    run.method = attrs.evolve(method, loss_terms=terms, after_step=after_step)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("cost", "the cost of the rollout is nan"),
        ("policy", "the loss term 'policy' is nan"),
        ("term", "the loss term 'term' is nan"),
        ("gradient", "the norm of the gradient of .* is inf"),
        ("parameter", "the norm of the parameter .* is nan"),
    ],
)
def test_number_that_is_not_finite_stops_the_run(
    tmp_path: Path, where: str, named: str, late: bool
) -> None:
    """Nothing of the step is saved, and a resumed run stops at the same step."""
    run = fine_tuning(tmp_path)
    seen = set()
    for attempt in range(2):
        run.watch = Watch(late=late)
        poisoned(run, BATCHES + 1, where)  # the second step of the second epoch
        with pytest.raises(NotFiniteError, match=f"U5, epoch 2 of 2, step 2 of 2: {named}") as stop:
            learn(run)
        seen.add(str(stop.value))
        assert not run.costs
        run = prepare(run.config, tmp_path / "run", resume=True)
        assert (run.learner.epoch, run.learner.batch, run.steps) == (1, 0, BATCHES), attempt
        assert all(value.isfinite().all() for value in parameters(run).values())
    assert len(seen) == 1


def test_stop_does_not_save_a_step_that_is_not_finite(tmp_path: Path) -> None:
    """The request to stop comes before a late watch has read the step."""
    run = fine_tuning(tmp_path)
    run.watch = Watch(late=True)
    poisoned(run, 0, "parameter")
    with pytest.raises(NotFiniteError, match="step 1 of 2"):
        learn(run, stop=lambda: True)
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


def test_invalid_test_solution_is_not_scored(tmp_path: Path) -> None:
    """The message names the tested task; the checkpoint is from before."""
    run = fine_tuning(tmp_path)

    def spoil(learner: LearnerState) -> None:
        for parameter in learner.solver.module.parameters():
            parameter.data.fill_(torch.nan)

    run.method = attrs.evolve(run.method, after_task=spoil)
    with pytest.raises(InvalidRolloutError, match="POMO, instance 1 of 3") as stopped:
        learn(run)
    assert "test of task U5 after epoch 2 of task U5" in stopped.value.__notes__[0]
    assert not run.costs
    resumed = prepare(run.config, tmp_path / "run", resume=True)
    assert (resumed.learner.epoch, resumed.steps) == (1, BATCHES)
    assert not (tmp_path / "run" / "checkpoints" / "after-task-1").exists()


def test_method_with_a_detached_term_is_refused(tmp_path: Path) -> None:
    """The message names the method and the term."""
    run = fine_tuning(tmp_path)
    run.method = Method(loss_terms=lambda learner, rollout: [("mine", torch.ones(()))])  # noqa: ARG005
    with pytest.raises(ComponentError, match="method 'fine-tuning', loss term 'mine'"):
        learn(run)


def test_watching_changes_no_result(tmp_path: Path) -> None:
    """Reading numbers late gives the same costs as reading them at once."""
    runs = [fine_tuning(tmp_path / str(late)) for late in (False, True)]
    runs[1].watch = Watch(late=True)
    first, second = (learn(run) for run in runs)
    assert first.costs == second.costs
    assert same(parameters(first), parameters(second))
