"""Multi-task references: every task gets its budget, mixed by epoch or by batch."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_adapters.official.loading import load
from lifelong_co_adapters.official.locate import place, present, upstream
from lifelong_co_plugins.methods.multi_task import official_schedule, schedule
from scipy import stats
from tiny_runs import parameters, same, stopped_and_resumed, tiny_config

import lifelong_co as lco
from lifelong_co import learner as loop
from lifelong_co.config.presets import preset
from lifelong_co.config.run_config import Config
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.tasks.orders import paper_order
from lifelong_co.tasks.task import Task

PAPER = preset("paper").tasks(paper_order(1), "pomo")
NAMES = {"G": "Grid", "R": "Ring"}
LEVEL = 1e-4
"""Significance of the statistical tests; their seeds are fixed."""


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


@pytest.mark.parametrize("by_epoch", [True, False])
def test_official_tasks_are_uniform_and_independent(by_epoch: bool) -> None:
    """Chi-square tests of the counts and of the pairs of neighbors keep both at level 1e-4."""
    plan = official_schedule(PAPER, 0, by_epoch=by_epoch)
    drawn = [epoch[0][0] for epoch in plan] if by_epoch else [each[0] for e in plan for each in e]
    counts = Counter(drawn)
    assert stats.chisquare([counts[j] for j in range(6)]).pvalue > LEVEL
    pairs = Counter(zip(drawn[::2], drawn[1::2], strict=False))  # disjoint, so independent
    table = [[pairs[i, j] for j in range(6)] for i in range(6)]
    assert stats.chisquare([count for row in table for count in row]).pvalue > LEVEL
    assert stats.chi2_contingency(table).pvalue > LEVEL
    assert len(set(counts.values())) > 1  # a shuffle would give all tasks the same count
    assert plan == official_schedule(PAPER, 0, by_epoch=by_epoch)
    assert plan != official_schedule(PAPER, 1, by_epoch=by_epoch)


@pytest.mark.parametrize("by_epoch", [True, False])
def test_official_epochs_have_their_numbers_of_instances(by_epoch: bool) -> None:
    """1,200 epochs: those of one task have its instances, mixed ones int(32,000 / 6) = 5,333."""
    plan = official_schedule(PAPER, 0, by_epoch=by_epoch)
    assert len(plan) == 1200
    for epoch in plan:
        sizes = [size for _, _, size in epoch]
        own = PAPER[epoch[0][0]].instances
        assert sum(sizes) == (own if by_epoch else 5333)
        assert sizes[:-1] == [PAPER[task].batch_size for task, _, _ in epoch[:-1]]
        assert sizes[-1] <= PAPER[epoch[-1][0]].batch_size
    steps: Counter[int] = Counter()
    for task, step, _ in (batch for epoch in plan for batch in epoch):
        assert step == steps[task]
        steps[task] += 1


@pytest.mark.skipif(not present(place("LLR-BC")), reason="no official code of LLR-BC")
@pytest.mark.parametrize("by_epoch", [True, False])
@pytest.mark.parametrize("problem", ["cvrp", "tsp"])
def test_official_trainer_takes_the_same_batches(problem: str, by_epoch: bool) -> None:
    """With our draws in place of its own, its epochs have the tasks and batch sizes of ours."""
    names = [NAMES.get(task.distribution, task.distribution) for task in PAPER]
    plan = official_schedule(PAPER, 3, by_epoch=by_epoch)[:20]
    draws = iter([e[0][0] for e in plan] if by_epoch else [each[0] for e in plan for each in e])
    stand_ins = {name: ModuleType(name) for name in ("utils", "utils.utils")}

    class Meter:
        avg = 0.0
        update = staticmethod(lambda *_: None)

    vars(stand_ins["utils.utils"])["random"] = None
    folder = upstream("LLR-BC") / problem.upper()
    code = load(folder / "LLRBC-POMO", f"{problem.upper()}Trainer", stand_ins, roots=(folder,))
    trainer = object.__new__(getattr(code, f"{problem.upper()}Trainer_multitask"))
    taken: list[tuple[int, int]] = []

    def record(size: int) -> tuple[float, float]:
        taken.append((names.index(trainer.env_params["distribution"]), size))
        return 0.0, 0.0

    vars(trainer).update(
        tasks=names,
        batch_level=not by_epoch,
        start_epoch=0,
        env_params={"sizes": {name: t.size for name, t in zip(names, PAPER, strict=True)}},
        trainer_params={
            "episodes": {name: t.instances for name, t in zip(names, PAPER, strict=True)},
            "batch_sizes": {name: t.batch_size for name, t in zip(names, PAPER, strict=True)},
            "train_episodes": 0,
        },
        logger=SimpleNamespace(info=lambda _: None),
        _train_one_batch=record,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "AverageMeter", Meter, raising=False)
        choice = SimpleNamespace(choice=lambda tasks: tasks[next(draws)])
        patch.setattr(code, "random", choice, raising=False)
        for number, epoch in enumerate(plan, start=1):
            trainer._train_one_epoch(number)
            assert taken == [(task, size) for task, _, size in epoch]
            taken.clear()


def test_run_follows_the_official_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Epochs have the batches and sizes of the schedule, also after a stop in the middle."""
    found = config("multi-task-batch", [(2, 3), (1, 2), (2, 4)])
    found = attrs.evolve(found, method_options={"variant": "official"})
    plan = official_schedule(found.tasks, found.seed, by_epoch=False)
    assert len({len(epoch) for epoch in plan}) > 1
    shapes: list[tuple[int, int]] = []
    original = loop.sampled

    def spy(run: Run, instances: Any, observe: Any) -> Any:
        shapes.append(tuple(instances.nodes.shape[:2]))
        return original(run, instances, observe)

    monkeypatch.setattr(loop, "sampled", spy)
    whole = learn(prepare(found, tmp_path / "whole"))
    wanted = [(size, 4 + task) for epoch in plan for task, _, size in epoch]
    assert shapes == wanted
    assert whole.steps == len(wanted)
    assert [entry["epoch"] for entry in whole.history] == [1, 2, 1, 1, 2]
    again = stopped_and_resumed(found, tmp_path, len(plan[0]) + 1)
    assert same(parameters(whole), parameters(again))


def test_unknown_variant_is_refused() -> None:
    """The error lists the variants."""
    with pytest.raises(lco.UnknownNameError, match="balanced, official"):
        lco.method("multi-task-epoch", variant="oficial")


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
