"""Ideas for `rehearsal`: what else is kept, and when it is replayed."""

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import attrs
import torch
from lifelong_co_plugins.methods import rehearsal
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.solutions import waiting
from lifelong_co_plugins.methods.instance_replay.solved import (
    SolvedTasks,
    best_of,
    better,
    solved,
)
from torch import Tensor

from lifelong_co.protocols import LearnerState, Method, Rollout, Solver
from lifelong_co.tensors.modules import evaluating
from lifelong_co_ideas.consolidation import overwritten
from lifelong_co_ideas.together import both, of_demo


def consolidated() -> Method:
    """Return `rehearsal` with the consolidation loss of `llr-bc` beside it."""
    return both(of_demo("rehearsal"), of_demo("llr-bc"))


def averaged() -> Method:
    """Return `rehearsal` that ends each task with averaged weights."""
    return both(of_demo("rehearsal"), of_demo("averaged-weights"))


def second_half() -> Method:
    """Return `rehearsal` that replays in the second half of a task only."""
    whole = of_demo("rehearsal")

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterator[tuple[str, Tensor]]:
        present = learner.tasks[learner.task]
        late = 2 * learner.step_of(learner.task) >= present.epochs * present.batches
        # As in the first task nothing is replayed, but the norm of the gradient is noted.
        yield from whole.loss_terms(learner if late else attrs.evolve(learner, task=0), rollout)

    return attrs.evolve(whole, loss_terms=loss_terms)


def imitating(kept: SolvedTasks, **changed: Callable[..., Any]) -> Method:
    """Return `rehearsal` whose stored solutions are those, with some functions changed."""
    names = ("solve", "improve", "take", "forced", "state_dict", "load_state_dict")
    solutions = SimpleNamespace(**{name: getattr(kept, name) for name in names} | changed)
    with patch.object(rehearsal, "SolvedTasks", lambda: solutions):
        return of_demo("rehearsal")


def solutions_stay() -> Method:
    """Return `rehearsal` that always imitates the greedy solutions from the end of their task."""
    kept = SolvedTasks()
    return imitating(kept, improve=lambda *_: None)


def solved_again() -> Method:
    """Return `rehearsal` that solves all stored instances before each task, and keeps the best."""
    kept = SolvedTasks()

    @torch.no_grad()
    def solve(learner: LearnerState, memory: InstanceMemory) -> None:
        for task, known in enumerate(kept.tasks):
            with evaluating(learner.solver.module):
                held = list(memory.reservoirs[task])
                new = solved(learner.solver, held, learner.tasks[task].batch_size)
            kept.tasks[task] = better(known, new)
        kept.solve(learner, memory)

    return imitating(kept, solve=solve, improve=lambda *_: None)


def where_worse() -> Method:
    """Return `rehearsal` that imitates only the solutions that the solver does not reach greedily.

    What counts is the image that is replayed. For the other instances the solver's own greedy
    solution is taken, where the imitation has no loss.
    """
    kept = SolvedTasks()
    present: dict[str, Tensor] = {}

    @torch.no_grad()
    def forced(solver: Solver, batch: Any) -> int:
        with evaluating(solver.module):
            present["cost"], present["actions"] = best_of(solver.rollout(batch, "greedy"))
        return kept.forced(solver, batch)

    def take(task: int, places: Sequence[int]) -> Tensor:
        known = kept.take(task, places)
        T = max(known.shape[2], present["actions"].shape[1])
        reached = present["cost"] <= kept.tasks[task].cost[[*places]]
        own = waiting(present["actions"], T)[:, None]
        return torch.where(reached[:, None, None], own, waiting(known, T))

    return imitating(kept, forced=forced, take=take)


def two_replays() -> Method:
    """Return `rehearsal` that consolidates behaviors instead of imitating solutions.

    The behaviors are those of `overwritten`, so what is kept gets better beside the replayed
    instances, as in DREE (arXiv 2601.22509).
    """
    return both(of_demo("rehearsal", imitation=0.0), overwritten())
