"""What an epoch learns, as lines and messages say it."""

from pathlib import Path

import attrs
import pytest
from tiny_runs import tiny_config

from lifelong_co.runs.epochs import ALL, what_it_learns
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.runs.step_checks import place


def made(folder: Path, method: str) -> Run:
    """Return a run of a method in the second epoch of its second task; the first has 3 epochs."""
    config = tiny_config(method)
    first, *others = config.tasks
    run = prepare(attrs.evolve(config, tasks=(attrs.evolve(first, epochs=3), *others)), folder)
    run.learner.task, run.learner.epoch = 1, 1
    return run


def test_epoch_is_of_its_task(tmp_path: Path) -> None:
    """Its label and its epochs."""
    run = made(tmp_path / "run", "fine-tuning")
    task = run.config.tasks[1]
    assert what_it_learns(run, 1) == (task.label, 2, task.epochs)


@pytest.mark.parametrize("method", ["multi-task-epoch", "multi-task-batch"])
def test_epoch_of_all_tasks_is_of_the_whole_run(tmp_path: Path, method: str) -> None:
    """The task at that place of the list is not what is learned."""
    run = made(tmp_path / "run", method)
    total = sum(task.epochs for task in run.config.tasks)
    assert what_it_learns(run, 1) == (ALL, 5, total)
    assert place(run).startswith(f"all tasks, epoch 5 of {total}, step 1 of ")
