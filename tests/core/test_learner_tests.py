"""What the loop tests, and when."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from tiny_runs import (
    EPOCHS,
    parameters,
    same,
    tiny_config,
)

from lifelong_co import learner
from lifelong_co.config.run_config import Config
from lifelong_co.evaluation import mean_cost
from lifelong_co.learner import learn, thinned
from lifelong_co.runs import task_costs
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run


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
                patch.setattr(task_costs, "mean_cost", killed)

        with pytest.raises(KeyboardInterrupt):
            learn(broken, on_step=break_at_the_end)
    steps: list[int] = []
    again = prepare(config, tmp_path / "broken", resume=True)
    learn(again, on_step=lambda run, _: steps.append(run.steps))
    assert not steps
    assert same(parameters(again), parameters(whole))
    for name in ("costs.csv", "costs.csv.sha256", "metrics.json", "config.toml"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


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
