"""Which past task a step replays."""

import random

from lifelong_co.protocols import LearnerState
from lifelong_co.seeding import python_seed


def past_task(learner: LearnerState, turn: int, turns: int) -> int:
    """Return the past task that is replayed, counted from 0.

    The past tasks take turns, from the first one on. If there are fewer turns than past tasks, each
    turn has another task, drawn uniformly; the draw follows from the seed and the present task.

    Parameters
    ----------
    learner
        Its present task is not the first one.
    turn
        Counted from 0.
    turns
        How many there are, above ``turn``.
    """
    past: int = learner.task
    if turns >= past:
        return turn % past
    stream = random.Random(python_seed(learner.seed, f"replayed tasks {past}"))
    return stream.sample(range(past), turns)[turn]
