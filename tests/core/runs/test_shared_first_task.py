"""The part that runs share: whoever begins with it ends with the bytes of a run done alone."""

from pathlib import Path

import attrs
import pytest
import tiny_runs
import torch

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import CheckpointError, ConfigError, Interrupted
from lifelong_co.experiments.comparison import curves
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.learner import learn
from lifelong_co.runs.shared_first_task import first_part
from lifelong_co.storage import checkpoint

TINY = {"buffer_size": 6, "replay_size": 2, "replay_rows": 0.5}
SHARING = {
    "fine-tuning": {},
    "restart": {},
    "ewc": {"fisher_batches": 2},
    "llr-bc": TINY,
    "llr-bc balanced": {**TINY, "buffer": "balanced"},
    "llr-bc solution": {**TINY, "unit": "solution"},
}
ALONE = ("libog", "li-inter", "li-intra", "feng", "multi-task-epoch", "multi-task-batch", "der++")


def config(name: str = "fine-tuning", **settings: object) -> Config:
    """Return a run of two tasks, the first of three epochs, tested every second."""
    found = tiny_runs.tiny_config(name.split()[0], "cvrp", **SHARING.get(name, {}))
    tasks = (attrs.evolve(found.tasks[0], epochs=3), *found.tasks[1:])
    # Two epochs are shared, so the shared run's last test is due, and with three it is not.
    return attrs.evolve(found, **{"tasks": tasks, "curve_every": 2, **settings})


def part(of: Config) -> Config:
    """Return the part that a run shares."""
    found = first_part(of, registry.method(of.method, **of.method_options))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Do the shared part, for runs that test every second epoch and every third."""
    folders = {}
    for every in (2, 3):
        folders[every] = tmp_path_factory.mktemp("shared") / "run"
        learn(part(config(curve_every=every)), folders[every])
    return folders


def outcome(folder: Path) -> tuple[object, ...]:
    """Return all that a run has left but for times."""
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    tree = found[1]
    for entry in (*tree["log"], tree["sums"]):
        del entry["seconds"]
    return found[0].name, plain(tree), (folder / "costs.csv").read_bytes()


def plain(tree: object) -> object:
    """Return a tree with its tensors as bytes, so that `==` compares it bit for bit."""
    if isinstance(tree, torch.Tensor):
        return str(tree.dtype), tuple(tree.shape), tree.numpy().tobytes()
    if isinstance(tree, dict):
        return {key: plain(value) for key, value in tree.items()}
    return [plain(value) for value in tree] if isinstance(tree, list | tuple) else tree


@pytest.mark.parametrize("every", [2, 3])
@pytest.mark.parametrize("name", SHARING)
def test_a_run_that_begins_with_the_shared_part_ends_the_same(name, every, shared, tmp_path):
    """Costs, parameters, streams, the method's state and the log are those of a run alone."""
    of = config(name, curve_every=every)
    learn(of, tmp_path / "alone")
    learn(of, tmp_path / "after", first_task_from=[shared[every]])
    assert outcome(tmp_path / "after") == outcome(tmp_path / "alone")


def parts_of(of: Config, folder: Path) -> list[Path]:
    """Do the shared part of every task of a run that restarts."""
    method = registry.method(of.method)
    parts = [first_part(of, method, i) for i in range(len(of.tasks))]
    for i, found in enumerate(parts):
        assert found is not None
        learn(found, folder / f"part{i}")
    return [folder / f"part{i}" for i in range(len(parts))]


@pytest.mark.parametrize("every", [1, 2, 3])
def test_restart_begins_each_task_with_a_shared_part_and_ends_the_same(every, tmp_path):
    """Given in any order; with one of them alone, too."""
    of = config("restart", curve_every=every)
    parts = parts_of(of, tmp_path)
    learn(of, tmp_path / "alone")
    learn(of, tmp_path / "after", first_task_from=parts[::-1])
    learn(of, tmp_path / "half", first_task_from=parts[1:])
    assert outcome(tmp_path / "after") == outcome(tmp_path / "alone")
    assert outcome(tmp_path / "half") == outcome(tmp_path / "alone")


def test_restart_learns_a_task_alike_in_every_order(tmp_path):
    """The costs after it are the same bits, and so are those on the way to it."""
    of = config("restart", curve_every=1)
    found = []
    for i, tasks in enumerate((of.tasks, of.tasks[::-1])):
        run = learn(attrs.evolve(of, tasks=tasks), tmp_path / str(i))
        costs = {(tasks[c.learning - 1].label, c.epoch, c.name): c.cost for c in run.costs}
        assert len(costs) == len(run.costs)
        found.append(costs)
    assert found[0] == found[1]


def test_on_the_way_restart_tests_the_present_task_alone(tmp_path):
    """Its curve of the present task has every test, the mean over the learned tasks the whole."""
    of = config("restart", curve_every=1)
    learn(of, tmp_path / "run")
    run = load_run(tmp_path / "run")
    start, end = (float(epoch) for epoch in curves.boundaries(run)[1:])
    epochs = [start + i for i in range(of.tasks[1].epochs + 1)]
    assert [x for x, _ in curves.current(run)[1]] == epochs
    assert [x for x, _ in curves.learned(run)[1]] == [start, end]


def test_other_methods_share_their_first_task_alone(tmp_path):
    """The part of the second task belongs to no task of fine-tuning."""
    parts = parts_of(config("restart"), tmp_path)
    with pytest.raises(ConfigError, match="expected tasks = "):
        learn(config(), tmp_path / "run", first_task_from=parts)
    assert not (tmp_path / "run").exists()


def test_what_is_shared_is_not_repeated(shared, tmp_path):
    """The run takes its first own step in the last epoch, and resumes from there."""
    of = config("llr-bc")
    steps: list[tuple[int, int]] = []

    def watch(run: object, losses: object) -> None:  # noqa: ARG001
        steps.append((run.learner.task, run.learner.epoch))

    with pytest.raises(Interrupted):
        learn(of, tmp_path / "run", first_task_from=[shared[2]], watch=watch, stop=lambda: True)
    learn(of, tmp_path / "run", resume=True, first_task_from=[shared[2]], watch=watch)
    batches = tiny_runs.BATCHES
    assert steps == [(0, 2)] * batches + [(1, 0)] * batches + [(1, 1)] * batches


@pytest.mark.parametrize("name", ALONE)
def test_methods_that_work_in_the_first_task_share_nothing(name, shared, tmp_path):
    """They have no shared part, and are refused one, before anything is written."""
    of = config(name)
    assert first_part(of, registry.method(name)) is None
    with pytest.raises(
        ConfigError, match=f"does what fine-tuning does.*got '{name}'".replace("+", r"\+")
    ):
        learn(of, tmp_path / "run", first_task_from=[shared[2]])
    assert not (tmp_path / "run").exists()


def test_recording_in_every_epoch_shares_nothing():
    """The ablation EE fills its buffer from the first epoch on."""
    for record in ("every-epoch", "always"):
        method = registry.method("llr-bc", record=record)
        assert first_part(config("llr-bc"), method) is None
    one = config(tasks=tuple(attrs.evolve(task, epochs=1) for task in config().tasks))
    assert first_part(one, registry.method("fine-tuning")) is None
    adopted = config("llr-bc", buffer_from="somewhere")
    assert first_part(adopted, registry.method("llr-bc")) is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"seed": 1}, "seed = 1, got 0"),
        ({"curve_every": 3}, "curve_every = 3, got 2"),
        ({"learning_rate": 1e-3}, "learning_rate = 0.001, got 0.01"),
        ({"tasks": config().tasks[::-1]}, "tasks = "),
    ],
)
def test_the_first_part_of_another_run_is_refused(settings, said, shared, tmp_path):
    """The first setting that differs is named, and nothing is written."""
    with pytest.raises(ConfigError, match=f"first_task_from .*: expected {said}"):
        learn(config("llr-bc", **settings), tmp_path / "run", first_task_from=[shared[2]])
    assert not (tmp_path / "run").exists()


def test_an_unfinished_first_part_is_refused(tmp_path):
    """A run that has not come to its end is no part to begin with."""
    with pytest.raises(Interrupted):
        learn(part(config()), tmp_path / "part", stop=lambda: True)
    with pytest.raises(CheckpointError, match="expected a finished run"):
        learn(config(), tmp_path / "run", first_task_from=[tmp_path / "part"])
