"""A low-confidence decision that drifts: what a solver did after a task, and does at the end.

As in the paper's appendix A.2 one instance of an early task is solved twice, by the solver as it
was after that task and as it is after the last. Where the two solutions part they are in one state,
so the decisions there can be compared. Buffered states would not do: what they know of a route is
which nodes it has visited, not in which order.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.protocols import Solver
from lifelong_co.rollout import decoding as rollout
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks import instances as streams
from lifelong_co.tensors import records

INSTANCES = 32
"""Test instances in which such a decision is looked for."""
SHARED = 3
"""Decisions that make a way to look at."""


@attrs.frozen(eq=False)
class Course:
    """A solution of one instance, decision by decision."""

    actions: list[int]
    """``[T]``, forced ones included."""
    probs: Tensor
    """``[T - forced, A]``."""
    cost: float


@attrs.frozen(eq=False)
class Drift:
    """Two solutions that part at a decision."""

    instance: Any
    """Instances of one row."""
    then: Course
    now: Course
    step: int
    """Index of the decision in the actions of both."""
    forced: int
    """First actions that were no decisions."""
    weight: float
    """In ``[0, 1]``: how little confidence there was then, 1 minus the variance over the greatest
    possible.
    """

    def probs(self, course: Course) -> Tensor:
        """Return ``[A]``: the behavior at the decision."""
        return course.probs[self.step - self.forced]


@attrs.frozen(eq=False)
class Example:
    """A drift of a run."""

    run: Run
    task: str
    """Of the instance."""
    drift: Drift


def example(run: Run) -> Example | None:
    """Return a decision of a run that drifted; None if there is none in the instances searched.

    The task whose cost rose most since it was learned is looked at first.

    Raises
    ------
    LifelongError
        If the run has no checkpoints, its solver cannot be built, or a task's files are gone.
    """
    k = len(run.names)
    now = load_solver(run.path)
    rise = [run.costs[-1][j] / run.costs[j][j] for j in range(k - 1)]
    for j in sorted(range(k - 1), key=lambda j: -rise[j]):
        then = load_solver(run.path, after=j + 1)
        group = streams.testing(run.config.tasks[j], then.problem, run.config.tests)[0]
        drift = find(then, now, records.select(group, slice(INSTANCES)))
        if drift is not None:
            return Example(run, run.names[j], drift)
    return None


def has_checkpoints(run: Run) -> bool:
    """Tell whether a run's folder has what it takes."""
    return any((run.path / "checkpoints").glob("after-task-*/*.safetensors"))


@torch.no_grad()
def find(then: Solver, now: Solver, instances: Any) -> Drift | None:
    """Return the least confident decision at which two solvers' solutions part.

    Both decode greedily, from the start that was best for ``then``. As in the paper's example,
    instances come first on which the new solution is worse, and then those on which the two share
    `SHARED` decisions or more.

    Parameters
    ----------
    then, now
        Solvers of one problem.
    instances
        ``B`` instances, on the CPU.
    """
    starts = _best_starts(then, instances)
    old, new = _decode(then, instances, starts), _decode(now, instances, starts)
    found: list[tuple[bool, bool, float, Drift]] = []
    for b, (before, after) in enumerate(zip(old, new, strict=True)):
        step = _parting(before.actions, after.actions)
        if step is None:
            continue
        one = records.select(instances, slice(b, b + 1))
        certainty = before.probs[step - len(starts)].double()
        weight = float(registry.weighting("variance")(certainty))
        drift = Drift(one, _ended(before), _ended(after), step, len(starts), weight)
        shares = step - len(starts) >= SHARED
        found.append((after.cost > before.cost, shares, weight, drift))
    return max(found, key=lambda each: each[:3])[3] if found else None


def _best_starts(solver: Solver, instances: Any) -> list[Tensor]:
    """Return the forced actions, each ``[B, 1]``, of the best solution of every instance."""
    decisions = 0

    def count(state: Any, log_probs: Tensor) -> None:  # noqa: ARG001
        nonlocal decisions
        decisions += 1

    solved = solver.rollout(instances, "greedy", observe=count)
    best = solved.cost.argmin(dim=1)
    actions = solved.actions[torch.arange(len(best)), best]  # [B, T]
    return list(actions[:, : actions.shape[1] - decisions].T[..., None])


def _decode(solver: Solver, instances: Any, starts: Sequence[Tensor]) -> list[Course]:
    seen: list[Tensor] = []
    solved = rollout.rollout(
        solver,
        instances,
        "greedy",
        starts=starts,
        trajectories=1,
        observe=lambda state, log_probs: seen.append(log_probs[:, 0].exp()),  # noqa: ARG005
    )
    probs = torch.stack(seen, dim=1)  # [B, T - forced, A]
    return [
        Course(actions.tolist(), behavior, float(cost))
        for actions, behavior, cost in zip(
            solved.actions[:, 0], probs, solved.cost[:, 0], strict=True
        )
    ]


def _parting(one: Sequence[int], other: Sequence[int]) -> int | None:
    """Return where two sequences first differ; what has ended goes on as it ended."""
    pairs = zip_longest(one, other)
    steps = (
        t for t, (a, b) in enumerate(pairs)
        if (one[-1] if a is None else a) != (other[-1] if b is None else b)
    )  # fmt: skip
    return next(steps, None)


def _ended(course: Course) -> Course:
    """Return a course without what only fills it up to the longest of its batch."""
    actions = list(course.actions)
    forced = len(actions) - len(course.probs)
    while len(actions) > 1 and actions[-1] == actions[-2]:
        actions.pop()
    return attrs.evolve(course, actions=actions, probs=course.probs[: len(actions) - forced])
