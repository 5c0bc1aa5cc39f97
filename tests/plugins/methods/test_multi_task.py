"""Multi-task references: every task gets its budget, mixed by epoch or by batch."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.multi_task import schedule
from tiny_runs import parameters, same, tiny_config

from lifelong_co import learner as loop
from lifelong_co.config.run_config import Config
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.tasks.task import Task


def tasks(budgets: list[tuple[int, int]]) -> tuple[Task, ...]:
    """Return tasks of ``(epochs, batches)``, each with another size and batch size."""
    return tuple(
        Task(distribution="U", size=4 + j, epochs=e, batches=b, batch_size=2 + j)
        for j, (e, b) in enumerate(budgets)
    )


def config(method: str, budgets: list[tuple[int, int]]) -> Config:
    """Return a run of these tasks."""
    return attrs.evolve(tiny_config(method), tasks=tasks(budgets))


@given(
    budgets=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=5),
    seed=st.integers(0, 99),
    by_epoch=st.booleans(),
)
def test_every_task_gets_its_steps(
    budgets: list[tuple[int, int]], seed: int, by_epoch: bool
) -> None:
    """It gets exactly ``epochs * batches`` steps; by epoch, in whole epochs."""
    plan = schedule(tasks(budgets), seed, by_epoch=by_epoch)
    assert Counter(plan) == {j: e * b for j, (e, b) in enumerate(budgets)}
    assert plan == schedule(tasks(budgets), seed, by_epoch=by_epoch)
    place = 0
    while by_epoch and place < len(plan):
        b = budgets[plan[place]][1]
        assert set(plan[place : place + b]) == {plan[place]}
        place += b


@pytest.mark.parametrize("by_epoch", [True, False])
def test_order_is_random_and_balanced(by_epoch: bool) -> None:
    """In the first half of a long schedule each of three tasks has a third, within 5 sigma."""
    epochs, batches = 100, 2
    plan = schedule(tasks([(epochs, batches)] * 3), 0, by_epoch=by_epoch)
    draws = plan[::batches] if by_epoch else plan
    n = len(draws) // 2
    sigma = (n * (1 / 3) * (2 / 3) / 2) ** 0.5  # drawn without replacement, half of the lot
    for count in Counter(draws[:n]).values():
        assert abs(count - n / 3) < 5 * sigma
    switches = sum(a != b for a, b in pairwise(draws)) / (len(draws) - 1)
    assert abs(switches - 2 / 3) < 0.15
    assert plan != schedule(tasks([(epochs, batches)] * 3), 1, by_epoch=by_epoch)


@pytest.mark.parametrize("method", ["multi-task-epoch", "multi-task-batch"])
def test_budget_is_that_of_a_lifelong_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Each task has the same number of batches and instances, all new, and tasks are mixed."""
    spent: dict[str, Counter[int]] = {}
    sizes: dict[str, list[int]] = {}
    original = loop.train_batch

    def spy(run: Run) -> Any:
        chosen = run.method.instances

        def instances(learner: Any) -> Any:
            batch = chosen(learner)
            size = batch.nodes.shape[1]
            assert batch.nodes.shape[0] == size - 2  # the batch size of the task it is of
            spent.setdefault(run.config.method, Counter())[size] += batch.nodes.shape[0]
            sizes.setdefault(run.config.method, []).append(size)
            return batch

        whole = run.method
        run.method = attrs.evolve(whole, instances=instances)
        try:
            return original(run)
        finally:
            run.method = whole

    monkeypatch.setattr(loop, "train_batch", spy)
    budgets = [(2, 3), (3, 2), (2, 4)]
    for name in ("fine-tuning", method):
        learn(prepare(config(name, budgets), tmp_path / name))
    assert spent[method] == spent["fine-tuning"]
    assert sizes[method] != sizes["fine-tuning"]
    plan = schedule(tasks(budgets), 0, by_epoch=method.endswith("epoch"))
    assert sizes[method] == [4 + j for j in plan]


def test_optimizer_is_kept_for_the_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adam's moments pass from each task of the loop to the next; no other state does."""
    begins: list[float] = []
    original = loop.train_epoch

    def spy(run: Run, *arguments: Any) -> None:
        if run.learner.epoch == run.learner.batch == 0:
            states = run.learner.optimizer.state.values()
            begins.append(max((float(state["step"]) for state in states), default=0.0))
        original(run, *arguments)

    monkeypatch.setattr(loop, "train_epoch", spy)
    budgets = [(2, 3), (3, 2), (2, 4)]
    learn(prepare(config("multi-task-batch", budgets), tmp_path / "multi"))
    assert begins == [0.0, 6.0, 12.0]


def test_run_of_one_task_is_fine_tuning(tmp_path: Path) -> None:
    """It holds to the bit, as there is nothing to mix."""
    runs = [
        learn(prepare(config(method, [(2, 2)]), tmp_path / method))
        for method in ("fine-tuning", "multi-task-epoch", "multi-task-batch")
    ]
    assert all(same(parameters(runs[0]), parameters(run)) for run in runs[1:])
    assert torch.equal(runs[0].stream.generator.get_state(), runs[2].stream.generator.get_state())
