"""Li et al.: which epochs replay past tasks, and which model is the exemplar."""

from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods import li
from lifelong_co_plugins.methods.regularization.exemplar import BestSoFar, Exemplar
from tiny_runs import SIZES, begun, longer, parameters, same, tiny_config
from torch import Tensor

from lifelong_co.learner import learn, train_batch
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run


@pytest.fixture
def trained_on(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, Tensor]]:
    """Return a list that gets ``(task, epoch, nodes)`` of every batch that Li's methods choose."""
    found: list[tuple[int, int, Tensor]] = []
    original = li.half_and_half

    def spy(learner: Any, memory: Any) -> Any:
        batch = original(learner, memory)
        found.append((learner.task, learner.epoch, batch.nodes))
        return batch

    monkeypatch.setattr(li, "half_and_half", spy)
    return found


@pytest.mark.parametrize("method", ["li-inter", "li-intra"])
@pytest.mark.parametrize("epochs", [2, 5])
def test_half_of_the_epochs_are_spent_on_past_tasks(
    tmp_path: Path, trained_on: list[tuple[int, int, Tensor]], method: str, epochs: int
) -> None:
    """Half is rounded down; past tasks get whole epochs, equally often, on instances they had."""
    config = longer(method, epochs, buffer_size=100)
    learn(prepare(config, tmp_path / "run"))
    sizes = [(task, epoch, nodes.shape[1]) for task, epoch, nodes in trained_on]
    want = {0: {SIZES[0]: 4 * epochs}}
    replayed = 4 * (epochs // 2)
    want[1] = {SIZES[1]: 4 * epochs - replayed, SIZES[0]: replayed}
    halves = {SIZES[0]: replayed // 2, SIZES[1]: replayed // 2}
    want[2] = {SIZES[2]: 4 * epochs - replayed, **halves}
    for task in range(3):
        assert Counter(size for other, _, size in sizes if other == task) == want[task]
    for task in (1, 2):
        epoch_sizes = [
            {size for t, e, size in sizes if (t, e) == (task, epoch)} for epoch in range(epochs)
        ]
        assert [SIZES[task] in each for each in epoch_sizes] == [e % 2 == 0 for e in range(epochs)]
    learned = {
        row.tobytes()
        for task, _, nodes in trained_on
        if nodes.shape[1] == SIZES[task]
        for row in nodes.numpy()
    }
    for task, _, nodes in trained_on:
        assert nodes.shape[0] == config.tasks[SIZES.index(nodes.shape[1])].batch_size
        if nodes.shape[1] != SIZES[task]:
            assert {row.tobytes() for row in nodes.numpy()} <= learned
            assert len({row.tobytes() for row in nodes.numpy()}) == len(nodes)


@pytest.mark.parametrize("method", ["li-inter", "li-intra"])
def test_an_epoch_with_few_batches_goes_on_with_the_turns(
    tmp_path: Path, trained_on: list[tuple[int, int, Tensor]], method: str
) -> None:
    """Two epochs of two batches replay four of five past tasks, or each of four once."""
    sizes = (4, 5, 6, 7, 8, 9)
    config = tiny_config(method, sizes=sizes, buffer_size=4)
    tasks = tuple(attrs.evolve(task, epochs=4, batches=2) for task in config.tasks)
    learn(prepare(attrs.evolve(config, tasks=tasks), tmp_path / "run"))
    for task in (3, 4, 5):
        past = [n.shape[1] for t, epoch, n in trained_on if t == task and epoch % 2 == 1]
        if task < 5:
            assert past == [*sizes[:task], sizes[0]][:4]
        else:
            assert len(set(past)) == 4
            assert set(past) < set(sizes[:task])


def test_best_epoch_weighs_a_short_batch_by_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the mean is over instances: the last batch has a quarter of the others."""
    noted: list[float] = []
    monkeypatch.setattr(BestSoFar, "note", lambda self, value, weight: noted.append(weight))  # noqa: ARG005
    config = tiny_config("li-intra", sizes=(5,))
    tasks = tuple(attrs.evolve(task, last_batch_size=1) for task in config.tasks)
    learn(prepare(attrs.evolve(config, tasks=tasks), tmp_path / "run"))
    assert noted == [1.0, 0.25] * 2


@pytest.mark.parametrize("method", ["li-inter", "li-intra"])
def test_exemplar_depends_on_the_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Inter: the end of the previous task. Intra: the best epoch of the present task."""
    ends: list[dict[str, Tensor]] = []  # parameters at the end of every epoch
    used: list[tuple[int, int, list[int]]] = []  # task, epoch, epochs whose end the exemplar is
    costs: list[tuple[int, int, float]] = []
    original = Exemplar.divergences

    def spy(self: Exemplar, solver: Any, divergence: Any) -> Any:
        if self.tensors:
            learner = spied[0]
            which = [i for i, end in enumerate(ends) if same(end, self.tensors)]
            used.append((learner.task, learner.epoch, which))
        return original(self, solver, divergence)

    monkeypatch.setattr(Exemplar, "divergences", spy)
    spied: list[Any] = []

    def watch(run: Run, each: dict[str, torch.Tensor]) -> None:
        if not spied:
            spied.append(run.learner)
        costs.append((run.learner.task, run.learner.epoch, each["cost"]))
        if run.learner.batch == 4:
            ends.append(parameters(run))

    epochs = 4
    config = longer(method, epochs, buffer_size=9)
    learn(prepare(config, tmp_path / "run"), on_step=watch)

    def mean(task: int, epoch: int) -> float:
        found = [cost for t, e, cost in costs if (t, e) == (task, epoch)]
        return sum(found) / len(found)

    if method == "li-inter":
        want = {(t, e): t * epochs - 1 for t in (1, 2) for e in range(epochs)}
    else:
        want = {}
        for task in range(3):
            for epoch in range(1, epochs):
                fresh = [e for e in range(epoch) if task == 0 or e % 2 == 0]
                best = min(fresh, key=lambda e, task=task: mean(task, e))
                want[task, epoch] = task * epochs + best
    assert {(t, e): which for t, e, which in used} == {k: [v] for k, v in want.items()}


def test_divergence_has_weight_alpha(tmp_path: Path) -> None:
    """The term is ``alpha`` times the mean KL from the exemplar to the learner."""
    found = {}
    for alpha in (0.5, 2.0):
        run = begun(tmp_path, longer("li-inter", 2, alpha=alpha))
        run.learner.task = 1
        run.method.before_task(run.learner)
        with torch.no_grad():
            for value in run.learner.solver.module.parameters():
                value += 0.05 * torch.sign(value)
        found[alpha] = float(train_batch(run)["exemplar"])
    assert found[0.5] > 1e-6
    assert found[2.0] == pytest.approx(4 * found[0.5], rel=1e-5)
