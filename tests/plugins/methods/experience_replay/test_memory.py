"""What LLR-BC records, when, and what it replays."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods import llr_bc
from lifelong_co_plugins.methods.experience_replay import memory
from lifelong_co_plugins.methods.experience_replay.heap import Apart
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
from lifelong_co.replay.experience import PackedExperience, record
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.runs.run import Run
from lifelong_co.storage import checkpoint
from lifelong_co.storage.tree import flatten

STEPS = {5: 4, 6: 5}  # unforced decoding steps of the TSP: every node but the first


def snapshot_ids(run: Run) -> list[int]:
    """Return what tells the snapshot's units apart."""
    return [id(unit["behavior"]) for unit in run.method.state_dict()["snapshot"]]


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[Any], list[Any]]]:
    """Return a list that gets ``(task, units, rows)`` at every replay pass."""
    found: list[tuple[int, list[Any], list[Any]]] = []
    original = llr_bc.behaviors

    def spy(learner: Any, units: list[Any], chosen: list[Any]) -> Any:
        found.append((learner.task, units, chosen))
        return original(learner, units, chosen)

    monkeypatch.setattr(llr_bc, "behaviors", spy)
    return found


@pytest.mark.parametrize("method", ["llr-bc", "li-inter"])
def test_what_is_kept_is_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Recorded units and instances are copies by `Apart`; else the heap grows at every step."""
    kept: set[int] = set()
    original = Apart.copies

    def spy(apart: Apart, many: Any) -> Any:
        copies = original(apart, many)
        kept.update(id(tensor) for one in copies for tensor in one.values())
        return copies

    monkeypatch.setattr(Apart, "copies", spy)
    run = tiny_learn(tiny_config(method), tmp_path)
    state = run.method.state_dict()
    if method == "llr-bc":
        held = {id(unit["behavior"]) for unit in state["buffer"]["items"]}
        assert len(held & kept) > len(held) / 2  # all but what the last rollout has recorded
    assert kept


def test_only_the_last_epoch_of_a_task_is_recorded(tmp_path: Path) -> None:
    """Every unforced step of it is offered to the buffer, and none of an epoch before."""
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
    assert {tuple(unit["behavior"].shape) for unit in held} == {(BATCH_SIZE, n, n) for n in STEPS}


def test_only_the_snapshot_of_the_tasks_start_is_replayed(
    tmp_path: Path, replayed: list[tuple[int, list[Any], list[Any]]]
) -> None:
    """Nothing in the first task; later, nothing of the present task and nothing newer."""
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
    assert {task for task, _, _ in replayed} == {1, 2}
    for task, units, _ in replayed:
        assert all(unit.task < task for unit in units)
        (held,) = by_task[task]
        assert {id(unit.behavior) for unit in units} <= set(held)
    assert sum(len(units) for _, units, _ in replayed) == 2 * (2 * EPOCHS * BATCHES)


@pytest.mark.parametrize("capacity", [0, 1, 3])
def test_a_rejected_experience_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capacity: int
) -> None:
    """What the reservoir admits is packed, and nothing else."""
    packed: list[Any] = []
    pack = PackedExperience._pack
    slots: list[int | None] = []
    admit = Reservoir.admit

    def counted(buffer: Reservoir[Any]) -> int | None:
        slots.append(admit(buffer))
        return slots[-1]

    monkeypatch.setattr(Reservoir, "admit", counted)
    monkeypatch.setattr(PackedExperience, "_pack", lambda *x: packed.append(x[0]) or pack(*x))
    tiny_learn(tiny_config(buffer_size=capacity), tmp_path)
    admitted = [slot for slot in slots if slot is not None]
    assert len(slots) == BATCHES * sum(STEPS.values())
    assert len(packed) == len(admitted)
    assert capacity <= len(packed) < len(slots)
    assert bool(packed) == bool(capacity)


@pytest.mark.parametrize(
    ("fraction", "rows"), [(0.01, [1]), (0.2, [1, 1, 1, 1]), (0.25, [1] * 5), (0.5, [2] * 5)]
)
def test_replay_rows_takes_its_share(
    tmp_path: Path,
    replayed: list[tuple[int, list[Any], list[Any]]],
    fraction: float,
    rows: list[int],
) -> None:
    """So many different instances of each unit, other ones each time, and at least one in all."""
    tiny_learn(tiny_config(replay_rows=fraction, replay_size=5, row_choice="uniform"), tmp_path)
    assert all([len(index) for index in each] == rows for _, _, each in replayed)
    chosen = torch.cat([index for _, _, each in replayed for index in each])
    assert 1 < len(set(chosen.tolist())) <= BATCH_SIZE


@given(
    sizes=st.lists(st.integers(1, 70), min_size=1, max_size=6),
    fraction=st.floats(0.001, 1.0),
    seed=st.integers(0, 999),
)
def test_portions_are_spread_evenly(sizes: list[int], fraction: float, seed: int) -> None:
    """So large a share of all instances, each unit's to within one, in the unit's order."""
    held = memory.Memory("reservoir", 1)
    held.random.seed(seed)
    tsp = lco.problem("tsp")
    units = []
    for B in sizes:
        instances = tsp.instances(nodes=torch.rand(B, 2, 2))
        units.append(record(0, instances, tsp.reset(instances, 1), torch.zeros(B, 1, 2)))
    found = list(held.portions(units, fraction))
    assert [id(unit) for unit, _ in found] == [
        id(unit) for unit in units if any(unit is each for each, _ in found)
    ]
    total = 0
    for unit, rows in found:
        index = torch.arange(unit.rows)[rows]
        assert bool((index.diff() > 0).all())
        assert abs(len(index) - fraction * unit.rows) <= 1.5  # the first may be ahead
        total += len(index)
    assert abs(total - fraction * sum(sizes)) <= 0.5 or total == 1


def test_its_state_survives_a_checkpoint(tmp_path: Path) -> None:
    """Buffer, snapshot and random streams, read back into a fresh method, are the same."""
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
def test_a_stopped_run_goes_on_to_the_same_bits(
    tmp_path: Path, stop_after: int, replay_rows: float
) -> None:
    """Wherever it is stopped, in a first epoch or while recording, in the first task or later."""
    config = tiny_config(buffer_size=5, replay_size=2, replay_rows=replay_rows)
    whole = tiny_learn(config, tmp_path / "whole")
    resumed = stopped_and_resumed(config, tmp_path, stop_after)
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs
