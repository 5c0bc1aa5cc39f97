"""Li et al. and Feng et al.: which instances are kept, and when they come back."""

from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods import li
from lifelong_co_plugins.methods.feng import scheduled
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.regularization.exemplar import Exemplar
from scipy import stats
from tiny_runs import BATCHES, exact_run, parameters, same, tiny_config, tiny_learn
from torch import Tensor

import lifelong_co as lco
from lifelong_co.config.run_config import Config
from lifelong_co.learner import learn, train_batch
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run, start
from lifelong_co.seeding import generator
from lifelong_co.tensors import records

SIZES = (4, 5, 6)


def longer(method: str, epochs: int, **options: Any) -> Config:
    """Return a run of three tasks of four batches, which differ in size and batch size."""
    config = tiny_config(method, sizes=SIZES, **options)
    tasks = (
        attrs.evolve(task, epochs=epochs, batches=4, batch_size=2 + j)
        for j, task in enumerate(config.tasks)
    )
    return attrs.evolve(config, tasks=tuple(tasks))


def begun(folder: Path, config: Config, seed: int = 0) -> Run:
    """Return a run that has taken no step."""
    return start(attrs.evolve(config, seed=seed), RunFolder(folder / "run"))


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
    """Exactly, rounded down: whole epochs, every past task equally often, on instances it had."""
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


def labelled(labels: range) -> Any:
    """Return instances whose coordinates all are their label."""
    nodes = torch.tensor([float(label) for label in labels])[:, None, None].expand(-1, 3, 2)
    return lco.problem("tsp").instances(nodes=nodes / 1000)


def labels(instances: Any) -> list[int]:
    """Undo `labelled`."""
    return [round(1000 * float(x)) for x in instances.nodes[:, 0, 0]]


def test_each_tasks_reservoir_is_uniform(tmp_path: Path) -> None:
    """Of 12 instances in 4 batches 5 are held, each equally often (chi-square, level 0.001)."""
    held: Counter[tuple[int, int]] = Counter()
    repeats = 400
    run = begun(tmp_path, longer("li-inter", 2))
    for seed in range(repeats):
        run.learner.seed = seed
        memory = InstanceMemory(5)
        for task in (0, 1):
            run.learner.task = task
            for first in range(0, 12, 3):
                memory.offer(run.learner, labelled(range(first, first + 3)))
            found = [label for item in memory.reservoirs[task] for label in labels(item)]
            assert len(set(found)) == 5
            held.update((task, label) for label in found)
    for task in (0, 1):
        counts = [held[task, label] for label in range(12)]
        # Draws without replacement vary less than independent ones, by (12 - 5) / 11.
        statistic = sum((c - repeats * 5 / 12) ** 2 for c in counts) / (repeats * 5 / 12)
        assert stats.chi2.sf(statistic * 11 / 7, df=11) > 0.001
    # Of two tasks' reservoirs neither follows the other.
    assert any(held[0, label] != held[1, label] for label in range(12))


def test_several_processes_share_the_capacity(tmp_path: Path) -> None:
    """Three processes hold four instances each where ten are asked for, as stored and restored."""
    run = begun(tmp_path, longer("li-inter", 2))
    run.learner.processes = 3
    memory, again = InstanceMemory(10), InstanceMemory(10)
    memory.offer(run.learner, labelled(range(12)))
    assert len(list(memory.reservoirs[0])) == 4
    again.load_state_dict(run.learner, memory.state_dict())
    again.offer(run.learner, labelled(range(12, 24)))
    assert len(list(again.reservoirs[0])) == 4


def test_what_is_sampled_is_uniform_and_repeatable(tmp_path: Path) -> None:
    """A batch without replacement, the same at the same step, over many steps uniform."""
    run = begun(tmp_path, longer("li-inter", 2))
    learner, memory = run.learner, InstanceMemory(6)
    assert memory.sample(learner, 0) is None
    memory.offer(learner, labelled(range(6)))
    learner.task = 1
    counts: Counter[int] = Counter()
    for learner.batch in range(600):
        found = labels(memory.sample(learner, 0))
        assert len(set(found)) == learner.tasks[0].batch_size == 2
        counts.update(found)
    assert labels(memory.sample(learner, 0)) == found
    statistic = sum((counts[label] - 200) ** 2 for label in range(6)) / 200
    assert stats.chi2.sf(statistic * 5 / 4, df=5) > 0.001


def test_a_task_of_several_sizes(tmp_path: Path) -> None:
    """Batches are of one size each, and its instances survive being saved, in their places."""
    run = begun(tmp_path, longer("li-inter", 2))
    learner, memory = run.learner, InstanceMemory(10)
    for size in (3, 4, 3):
        memory.offer(learner, lco.problem("tsp").instances(nodes=torch.rand(2, size, 2)))
    learner.task, sizes = 1, Counter()
    for learner.batch in range(200):
        sizes[memory.sample(learner, 0).nodes.shape[1]] += 1
    assert 100 < sizes[3] < 165  # two of three are of size 3
    fresh = InstanceMemory(10)
    fresh.load_state_dict(learner, memory.state_dict())
    (old,), (new,) = memory.reservoirs, fresh.reservoirs
    assert len(new) == 6
    assert all(torch.equal(a.nodes, b.nodes) for a, b in zip(old, new, strict=True))


def test_without_a_buffer_nothing_is_replayed(tmp_path: Path) -> None:
    """And without a weight it is fine-tuning to the bit."""
    plain = tiny_learn(tiny_config("fine-tuning"), tmp_path / "plain")
    for method in ("li-inter", "li-intra", "feng"):
        config = tiny_config(method, buffer_size=0, alpha=0.0)
        assert same(parameters(tiny_learn(config, tmp_path / method)), parameters(plain))


@pytest.mark.parametrize("method", ["li-inter", "li-intra"])
def test_which_model_is_the_exemplar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Inter: the one after the previous task. Intra: that of the best epoch on the present task."""
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


def test_the_divergence_has_weight_alpha(tmp_path: Path) -> None:
    """``alpha`` times the mean KL from the exemplar to the learner."""
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


def test_fengs_schedule_by_hand() -> None:
    """Past task ``j`` in every fifth step, beginning with step ``j``."""
    assert [scheduled(step, 0, 5) for step in range(3)] == [[], [], []]
    assert [scheduled(step, 2, 5) for step in range(8)] == [[0], [1], [], [], [], [0], [1], []]
    assert [scheduled(step, 3, 2) for step in range(3)] == [[0, 2], [1], [0, 2]]
    assert [scheduled(step, 2, 1) for step in range(2)] == [[0, 1], [0, 1]]


def test_fengs_loss_by_hand(tmp_path: Path) -> None:
    """In a replayed step the gradient is that of ``L_DRL + alpha L_DRL(replayed)``."""
    config = tiny_config("feng", sizes=(5, 6), alpha=0.7, every=2)
    run = exact_run(config, tmp_path)
    learner = run.learner
    run.method.before_task(learner)
    learner.batch = 1
    train_batch(run)
    learner.task, learner.epoch, learner.batch = 1, 0, 0
    run.method.before_task(learner)
    run.learner.optimizer.step = lambda: None  # type: ignore[method-assign]
    memory = InstanceMemory(200)
    memory.load_state_dict(learner, run.method.state_dict()["memory"])
    streams = run.actions.get_state(), run.stream.generator.get_state()
    losses = train_batch(run)
    module = learner.solver.module
    got = {name: value.grad.clone() for name, value in module.named_parameters()}
    run.actions.set_state(streams[0])
    run.stream.generator.set_state(streams[1])
    replayed = memory.sample(learner, 0)
    stream = generator(learner.seed, "replayed actions 1 0 0 of task 0")
    total = torch.zeros((), dtype=torch.float64)
    for weight, instances, actions in (
        (1.0, learner.draw(1), run.actions),
        (0.7, replayed, stream),
    ):
        rollout = learner.solver.rollout(instances, "sample", generator=actions)
        advantage = rollout.cost - rollout.cost.mean(dim=1, keepdim=True)
        total = total + weight * (advantage * rollout.log_likelihood).mean()
    assert records.rows(replayed) == 4
    assert float(losses["policy"] + losses["replay"]) == pytest.approx(total.item(), rel=1e-9)
    module.zero_grad()
    total.backward()
    for name, value in module.named_parameters():
        torch.testing.assert_close(got[name], value.grad, rtol=1e-8, atol=1e-9, msg=name)
    learner.batch = 1  # an odd step: nothing is due
    assert set(train_batch(run)) == {"cost", "policy"}


def test_fengs_replay_grows_with_the_tasks(tmp_path: Path) -> None:
    """Every past task is replayed in half of the steps when ``every`` is 2."""
    replays: Counter[int] = Counter()

    def watch(run: Run, each: dict[str, torch.Tensor]) -> None:
        replays[run.learner.task] += "replay" in each

    tiny_learn(tiny_config("feng", sizes=(5, 6, 5), every=2), tmp_path, on_step=watch)
    assert [replays[task] for task in range(3)] == [0, BATCHES, 2 * BATCHES]
