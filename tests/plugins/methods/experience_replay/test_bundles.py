"""Steps of one rollout that LLR-BC keeps, draws and replays together."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle, in_bundles
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from tiny_runs import (
    BATCH_SIZE,
    BATCHES,
    parameters,
    same,
    stopped_and_resumed,
    tiny_config,
    tiny_learn,
)

import lifelong_co as lco

STEPS = {5: 4, 6: 5}  # unforced decoding steps of the TSP: every node but the first


@given(steps=st.integers(0, 5000), size=st.integers(1, 50))
def test_sizes_count_steps(steps: int, size: int) -> None:
    """Sizes are rounded down to whole bundles, but not to 0; bundles of all steps are counted."""
    bundles = in_bundles(steps, size)
    assert bundles == 0 if steps == 0 else bundles == max(1, steps // size)
    assert in_bundles(steps, 0) == steps


def test_run_holds_and_replays_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The buffer's steps are full; steps of a bundle are replayed on the same rows."""
    replayed: list[tuple[list[Any], Replayed]] = []
    original = Weights.replayed

    def spy(self: Weights, learner: Any, bundles: Any) -> Any:
        found = original(self, learner, bundles)
        if bundles:
            replayed.append((bundles, found))
        return found

    monkeypatch.setattr(Weights, "replayed", spy)
    config = tiny_config(bundle_size=2, buffer_size=8, replay_size=4, replay_rows=0.5)
    run = tiny_learn(config, tmp_path)
    state = run.method.state_dict()["buffer"]
    assert state["capacity"] == 4
    assert state["seen"] == BATCHES * sum(math.ceil(n / 2) for n in STEPS)
    assert len(replayed) > 2
    for bundles, found in replayed:
        assert len(bundles) == 2
        for bundle in bundles:
            assert isinstance(bundle, Bundle)
            assert all(step.instances is bundle.steps[0].instances for step in bundle.steps)
        assert sum(each.count for each in found.bundles) <= BATCH_SIZE


@pytest.mark.parametrize("stop_after", [3, 5, 7])
def test_stopped_run_resumes_to_the_same_bits(tmp_path: Path, stop_after: int) -> None:
    """Bundles and the batches that they share survive a checkpoint."""
    config = tiny_config(bundle_size=2, buffer_size=9, replay_size=4, replay_rows=0.5)
    whole = tiny_learn(config, tmp_path / "whole")
    resumed = stopped_and_resumed(config, tmp_path, stop_after)
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs


@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        (1, 3, [4, 4]),
        (1, 0, [4, 4]),
        (2, 4, [4, 4]),
        (2, 0, [4, 4]),
        (3, 1, [1] * 8),
        (0, 2, [2] * 4),
        (0, 3, [4, 4]),
        (0, 0, [4, 4]),
        (3, 3, [2] * 4),
    ],
)
def test_experiences_of_another_run_come_in_bundles(
    tmp_path: Path, theirs: int, ours: int, found: list[int]
) -> None:
    """Short bundles of a batch are joined, long ones are cut: so sizes still count steps."""
    run = tiny_learn(tiny_config(sizes=(6,), bundle_size=theirs), tmp_path)
    memory = Memory("reservoir", 100, bundle_size=ours)
    memory.adopt(run.learner, run.method.state_dict())
    run.learner.task = 0
    memory.start_task(run.learner)
    sizes = sorted(len(bundle.steps) for bundle in memory.snapshot)
    assert sizes == found
    for bundle in memory.snapshot:
        assert len({id(step.instances) for step in bundle.steps}) == 1


@pytest.mark.parametrize(
    ("size", "match"),
    [
        (-1, "bundle_size: expected at least 0 and finite, got -1"),
        (1.5, "bundle_size: expected a whole number"),
    ],
)
def test_bad_bundle_size_is_refused(size: float, match: str) -> None:
    """The error comes when the method is built."""
    with pytest.raises(lco.LifelongError, match=match):
        lco.method("llr-bc", bundle_size=size)
