"""What LLR-BC records, when, and what it replays."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from lifelong_co_plugins.methods.experience_replay import recorder
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from tiny_runs import (
    BATCH_SIZE,
    BATCHES,
    EPOCHS,
    parameters,
    same,
    stopped_and_resumed,
    tiny_config,
    tiny_learn,
)

import lifelong_co as lco
from lifelong_co.errors import ComponentError
from lifelong_co.replay.experience import BEHAVIOR, PackedExperience, plain_behavior
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.runs.run import Run
from lifelong_co.storage import checkpoint
from lifelong_co.storage.tree import flatten
from lifelong_co.tensors.heap import CopyThread

STEPS = {5: 3, 6: 4}  # steps of the TSP with a choice: the first and last node are forced


def snapshot_ids(run: Run) -> list[int]:
    """Return what tells the snapshot's units apart."""
    return [id(unit["behavior"]) for unit in run.method.state_dict()["snapshot"]]


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[PackedExperience]]]:
    """Return a list that gets ``(task, experiences)`` at every step that replays."""
    found: list[tuple[int, list[PackedExperience]]] = []
    original = Weights.replayed

    def spy(self: Weights, learner: Any, bundles: Any) -> Any:
        replayed = original(self, learner, bundles)
        if replayed.bundles:
            found.append((learner.task, [s for each in replayed.bundles for s in each.steps]))
        return replayed

    monkeypatch.setattr(Weights, "replayed", spy)
    return found


@pytest.mark.usefixtures("fresh_registry")
def test_buffer_whose_state_has_no_items_is_refused_before_a_run() -> None:
    """A checkpoint could not be written."""

    class Renamed(Reservoir[Any]):
        """Calls its items otherwise."""

        def state_dict(self) -> dict[str, Any]:
            """Return them as ``held``."""
            return {"held": list(self)}

    @lco.hookimpl
    def register_buffers(register: Any) -> None:
        register("renamed", Renamed)

    lco.register_plugin(SimpleNamespace(register_buffers=register_buffers))
    with pytest.raises(
        ComponentError, match=r"buffer 'renamed': expected .*as 'items', got held \(list\)"
    ):
        lco.method("llr-bc", buffer="renamed")


@pytest.mark.parametrize("method", ["llr-bc", "li-inter"])
def test_kept_tensors_are_copied_by_the_copying_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Without the copies of `CopyThread` the heap would grow at every step."""
    kept: set[int] = set()
    original = CopyThread.copies

    def spy(thread: CopyThread, many: Any) -> Any:
        copies = original(thread, many)
        kept.update(id(tensor) for one in copies for tensor in one.values())
        return copies

    monkeypatch.setattr(CopyThread, "copies", spy)
    run = tiny_learn(tiny_config(method), tmp_path)
    state = run.method.state_dict()
    if method == "llr-bc":
        held = {id(unit["behavior"]) for unit in state["buffer"]["items"]}
        assert held <= kept
    assert kept


def test_only_the_last_epoch_of_a_task_is_recorded(tmp_path: Path) -> None:
    """All its unforced steps are offered to the buffer, and none of an earlier epoch."""
    seen: list[tuple[int, int, int]] = []

    def watch(run: Run, _: dict[str, torch.Tensor]) -> None:
        offered = run.method.state_dict()["buffer"]["seen"]
        seen.append((run.learner.task, run.learner.epoch, offered))

    run = tiny_learn(tiny_config(), tmp_path, on_step=watch)
    first, both = BATCHES * STEPS[5], BATCHES * (STEPS[5] + STEPS[6])
    want = [(0, 0, 0)] * BATCHES + [(0, 1, STEPS[5] * (b + 1)) for b in range(BATCHES)]
    want += [(1, 0, first)] * BATCHES + [(1, 1, first + STEPS[6] * (b + 1)) for b in range(BATCHES)]
    assert EPOCHS == 2
    assert seen == want
    held = run.method.state_dict()["buffer"]["items"]
    assert Counter(unit["task"] for unit in held) == {0: first, 1: both - first}
    shapes = {tuple(plain_behavior(unit).shape) for unit in held}
    assert shapes == {(BATCH_SIZE, n, n) for n in STEPS}


def test_only_the_buffer_of_the_start_of_the_task_is_replayed(
    tmp_path: Path, replayed: list[tuple[int, list[PackedExperience]]]
) -> None:
    """Nothing is replayed in the first task, and later nothing of the present one."""
    snapshots: list[tuple[int, list[int]]] = []
    losses: list[tuple[int, set[str]]] = []

    def watch(run: Run, each: dict[str, torch.Tensor]) -> None:
        snapshots.append((run.learner.task, snapshot_ids(run)))
        losses.append((run.learner.task, set(each)))

    # So small that the last epoch replaces units which the snapshot still holds.
    config = tiny_config(sizes=(5, 6, 5), buffer_size=6, replay_size=2)
    tiny_learn(config, tmp_path, on_step=watch)
    by_task = {task: {tuple(ids) for other, ids in snapshots if other == task} for task in range(3)}
    assert by_task[0] == {()}
    assert all(len(by_task[task]) == 1 for task in range(3))
    assert all(("consolidation" in names) == (task > 0) for task, names in losses)
    assert {task for task, _ in replayed} == {1, 2}
    for task, units in replayed:
        assert all(unit.task < task for unit in units)
        (held,) = by_task[task]
        assert {id(unit.packed[BEHAVIOR]) for unit in units} <= set(held)
    assert sum(len(units) for _, units in replayed) == 2 * (2 * EPOCHS * BATCHES)


@pytest.mark.parametrize("capacity", [0, 1, 3])
def test_rejected_experience_is_not_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capacity: int
) -> None:
    """Only what the reservoir admits is packed."""
    packed: list[Any] = []
    pack = recorder.record
    slots: list[int | None] = []
    admit = Reservoir.admit

    def counted(buffer: Reservoir[Any]) -> int | None:
        slots.append(admit(buffer))
        return slots[-1]

    monkeypatch.setattr(Reservoir, "admit", counted)
    monkeypatch.setattr(recorder, "record", lambda *x: packed.append(x) or pack(*x))
    tiny_learn(tiny_config(buffer_size=capacity), tmp_path)
    admitted = [slot for slot in slots if slot is not None]
    assert len(slots) == BATCHES * sum(STEPS.values())
    assert len(packed) == len(admitted)
    assert capacity <= len(packed) < len(slots)
    assert bool(packed) == bool(capacity)


def test_memory_survives_a_checkpoint(tmp_path: Path) -> None:
    """A new method reads back the same buffer, snapshot and random streams."""
    run = tiny_learn(tiny_config(sizes=(5, 6), buffer_size=9), tmp_path)
    state = run.method.state_dict()
    saved = checkpoint.load(checkpoint.save(tmp_path / "kept", 1, state))
    fresh = lco.method("llr-bc", buffer_size=9)
    fresh.load_state_dict(run.learner, saved)
    (skeleton, tensors), (again, others) = flatten(state), flatten(fresh.state_dict())
    assert skeleton == again
    assert len(tensors) == len(others) > 9
    assert all(torch.equal(first, second) for first, second in zip(tensors, others, strict=True))


@pytest.mark.parametrize("replay_rows", [1.0, 0.5])
@pytest.mark.parametrize("stop_after", [1, 3, 5, 7])
def test_stopped_run_resumes_to_the_same_bits(
    tmp_path: Path, stop_after: int, replay_rows: float
) -> None:
    """It stops in a first epoch or while recording, in the first task or a later one."""
    config = tiny_config(buffer_size=5, replay_size=2, replay_rows=replay_rows)
    whole = tiny_learn(config, tmp_path / "whole")
    resumed = stopped_and_resumed(config, tmp_path, stop_after)
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs
