"""Which past task a step replays."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.instance_replay.turns import past_task


def replayed(past: int, turns: int, seed: int = 0) -> list[int]:
    """Return the past tasks of all turns of one task."""
    learner: Any = SimpleNamespace(task=past, seed=seed)
    return [past_task(learner, turn, turns) for turn in range(turns)]


@given(past=st.integers(1, 20), turns=st.integers(1, 60), seed=st.integers(0, 99))
def test_turns_are_shared_as_evenly_as_possible(past: int, turns: int, seed: int) -> None:
    """No task has two turns more than another, also if there are too few for all of them."""
    counts = Counter(replayed(past, turns, seed))
    assert counts.keys() <= set(range(past))
    assert max(counts.values()) - min(counts[task] for task in range(past)) <= 1


def test_turns_go_round_from_the_first_task() -> None:
    """If all tasks have one."""
    assert replayed(3, 7) == [0, 1, 2, 0, 1, 2, 0]


def test_every_task_is_replayed_sometime_in_a_run_of_short_tasks() -> None:
    """60 tasks of 5 steps: with turns from the first task on, only five would ever be replayed."""
    counts = Counter(task for past in range(1, 60) for task in replayed(past, min(past, 5) or 1))
    assert len(counts) > 40
    assert replayed(40, 5, seed=1) != replayed(40, 5, seed=2)
