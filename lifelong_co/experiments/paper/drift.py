"""A low-confidence decision that drifts: what a solver did after a task, and does at the end.

As in the paper's appendix A.2, one instance of an early task is solved twice: with the parameters
after that task, and with those after the last task. Where the two solutions part, both are in the
same state, so the two decisions can be compared. Buffered states do not suffice: they hold which
nodes a route has visited, not in which order.
"""

from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.protocols import Solver
from lifelong_co.rollout import decoding
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks import instances as streams
from lifelong_co.tensors import records

INSTANCES = 32
"""Test instances in which such a decision is looked for."""
SHARED = 3
"""Shared decisions that are enough to show the way to the state."""
SHOWN = 3
"""Likeliest actions of each solver (paper, appendix A.2)."""


@attrs.frozen(eq=False)
class Course:
    """A solution of one instance, decision by decision."""

    actions: list[int]
    """``[T]``, forced ones included."""
    probs: Tensor
    """``[T - forced, A]``."""
    cost: float

    @property
    def forced(self) -> int:
        """First actions that were no decisions."""
        return len(self.actions) - len(self.probs)


@attrs.frozen(eq=False)
class Drift:
    """Two solutions that part at a decision."""

    instance: Any
    """Instances of one row."""
    then: Course
    now: Course
    step: int
    """Index of the decision in the actions of both."""

    def probs(self, course: Course) -> Tensor:
        """Return ``[A]``: the behavior at the decision."""
        return course.probs[self.step - course.forced]

    @property
    def weight(self) -> float:
        """How unsure the decision was then, in ``[0, 1]``: the weight by variance."""
        return float(registry.weighting("variance")(self.probs(self.then).double()))

    @property
    def likeliest(self) -> list[tuple[int, float, float]]:
        """(Action, probability then, probability now) of the likeliest `SHOWN` of each solver."""
        old, new = self.probs(self.then), self.probs(self.now)
        top = [int(a) for probs in (old, new) for a in probs.topk(min(SHOWN, len(probs))).indices]
        rows = [(a, float(old[a]), float(new[a])) for a in dict.fromkeys(top)]
        return sorted((row for row in rows if row[1] or row[2]), key=lambda row: -max(row[1:]))

    @property
    def has_depot(self) -> bool:
        """Whether action 0 is a depot."""
        return getattr(self.instance, "depot", None) is not None

    def number(self, index: int) -> int:
        """Return what a map calls the action of an index: a depot that a route starts at is 0."""
        return index if self.has_depot and self.then.actions[0] == 0 else index + 1

    def name_of(self, action: int) -> str:
        """Return how an action is called on either map."""
        if self.has_depot and action == 0:
            return "depot"
        then, now = (
            self.number(course.actions.index(action)) if action in course.actions else "?"
            for course in (self.then, self.now)
        )
        return f"node {then} (then)\nnode {now} (now)"


def example(run: Run) -> tuple[str, Drift] | None:
    """Return the task of a decision of a run that drifted, and the decision; None if none is found.

    The task whose cost rose most since it was learned is looked at first.

    Raises
    ------
    LifelongError
        If the run has no checkpoints, its solver cannot be built, or a task's files are gone.
    """
    now = load_solver(run.path)
    earlier = range(len(run.names) - 1)
    for j in sorted(earlier, key=lambda j: -run.costs[-1][j] / run.costs[j][j]):
        then = load_solver(run.path, after=j + 1)
        group = streams.testing(run.config.tasks[j], then.problem, run.config.tests)[0]
        drift = find(then, now, records.select(group, slice(INSTANCES)))
        if drift is not None:
            return run.names[j], drift
    return None


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
    courses = (_decode(solver, instances, starts) for solver in (then, now))
    drifts = []
    for b, (old, new) in enumerate(zip(*courses, strict=True)):
        pairs = enumerate(zip(old.actions, new.actions, strict=False))
        step = next((t for t, (before, after) in pairs if before != after), None)
        if step is not None:
            one = records.select(instances, slice(b, b + 1))
            drifts.append(Drift(one, old, new, step))

    def merit(drift: Drift) -> tuple[bool, bool, float]:
        shares = drift.step - drift.then.forced >= SHARED
        return drift.now.cost > drift.then.cost, shares, drift.weight

    return max(drifts, key=merit, default=None)


def _best_starts(solver: Solver, instances: Any) -> list[Tensor]:
    """Return the forced actions, each ``[B, 1]``, of the best solution of every instance."""
    decisions: list[Any] = []
    solved = solver.rollout(instances, "greedy", observe=lambda *_: decisions.append(None))
    best = solved.cost.argmin(dim=1)
    actions = solved.actions[torch.arange(len(best)), best]  # [B, T]
    return list(actions[:, : actions.shape[1] - len(decisions)].T[..., None])


def _decode(solver: Solver, instances: Any, starts: list[Tensor]) -> list[Course]:
    """Solve each instance from its start; what only fills a batch up to its longest is left out."""
    seen: list[Tensor] = []
    solved = decoding.rollout(
        solver, instances, "greedy", starts=starts, trajectories=1,
        observe=lambda _, log_probs: seen.append(log_probs[:, 0].exp()),
    )  # fmt: skip
    courses = []
    for b, actions in enumerate(solved.actions[:, 0].tolist()):
        while len(actions) > 1 and actions[-1] == actions[-2]:
            actions.pop()
        probs = torch.stack([step[b] for step in seen[: len(actions) - len(starts)]])
        courses.append(Course(actions, probs, float(solved.cost[b, 0])))
    return courses
