"""A decision of low confidence that drifts: a solver's choice after a task and at the end.

As in the paper's appendix A.2, one instance of an early task is solved twice: with the parameters
after that task, and with those after the last task. At the first different action both solutions
are in the same state, so the two decisions can be compared. Buffered states cannot be used: they
hold the nodes that a route has visited, but not their order.
"""

from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.protocols import Solver
from lifelong_co.rollout import decoding
from lifelong_co.rollout.verification import complete, has_numbers, require_valid
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks.instances import testing
from lifelong_co.tensors import records

INSTANCES = 32
"""Number of test instances that are searched for such a decision."""
SHARED = 3
"""Number of common decisions that both solutions should have before they differ."""
SHOWN = 3
"""Number of likeliest actions of each solver that are shown (paper, appendix A.2)."""


@attrs.frozen(eq=False)
class Course:
    """A solution of one instance, decision by decision."""

    actions: list[int]
    """``[T]``, forced actions included."""
    probs: Tensor
    """``[T - forced, A]``: the behavior at each decision."""
    cost: float

    @property
    def forced(self) -> int:
        """The number of forced actions at the beginning."""
        return len(self.actions) - len(self.probs)


@attrs.frozen(eq=False)
class Drift:
    """Two solutions of one instance that begin alike and differ at a decision."""

    instance: Any
    """A batch of one instance."""
    then: Course
    """The solution with the parameters after the task."""
    now: Course
    """The solution with the parameters after the last task."""
    step: int
    """Index, in the actions, of the first decision that differs."""

    def probs(self, course: Course) -> Tensor:
        """Return ``[A]``: the behavior at the decision."""
        return course.probs[self.step - course.forced]

    @property
    def weight(self) -> float:
        """The weight by variance of the behavior then, in ``[0, 1]``; high if it was unsure."""
        return float(registry.weighting("variance")(self.probs(self.then).double()))

    @property
    def likeliest(self) -> list[tuple[int, float, float]]:
        """(Action, probability then, and now) of the `SHOWN` likeliest actions of each solver."""
        old, new = self.probs(self.then), self.probs(self.now)
        top = [int(a) for probs in (old, new) for a in probs.topk(min(SHOWN, len(probs))).indices]
        rows = [(a, float(old[a]), float(new[a])) for a in dict.fromkeys(top)]
        return sorted((row for row in rows if row[1] or row[2]), key=lambda row: -max(row[1:]))

    @property
    def has_depot(self) -> bool:
        """Whether action 0 is a depot."""
        return getattr(self.instance, "depot", None) is not None

    @property
    def points(self) -> Tensor | None:
        """``[A, 2]``: the places of the actions; None if they have none, as those of an ATSP."""
        names = ("depot", "nodes") if self.has_depot else ("nodes",)
        parts = [getattr(self.instance, name, None) for name in names]
        placed = [p for p in parts if isinstance(p, Tensor) and p.shape[2:] == (2,)]
        if len(placed) < len(parts):
            return None
        points = torch.cat(placed, dim=1)[0].double()
        return points if len(points) == self.then.probs.shape[1] else None

    def number(self, index: int) -> int:
        """Return the number of an action on a map: it counts from 0 at a depot, else from 1."""
        return index if self.has_depot and self.then.actions[0] == 0 else index + 1

    def name_of(self, action: int) -> str:
        """Return the name of an action: its number on the second map, then on the first."""
        if self.has_depot and action == 0:
            return "depot"
        then, now = (
            self.number(course.actions.index(action)) if action in course.actions else "?"
            for course in (self.then, self.now)
        )
        return f"node {now}" if then == now else f"node {now}\n({then} on the first map)"


def example(run: FinishedRun) -> tuple[str, Drift] | None:
    """Return a decision of a run that drifted, with its task; None if none is found.

    The search starts with the task whose cost has risen most since it was learned.

    Raises
    ------
    LifelongError
        If the run has no checkpoints, its solver cannot be built, or a task's files are missing.
    """
    now = load_solver(run.path)
    earlier = range(len(run.names) - 1)
    for j in sorted(earlier, key=lambda j: -run.cost(-1, j) / run.cost(j, j)):
        then = load_solver(run.path, after=j + 1)
        group = testing(run.config.tasks[j], then.problem, run.config.tests)[0]
        drift = find(then, now, records.select(group, slice(INSTANCES)))
        if drift is not None:
            return run.names[j], drift
    return None


@torch.no_grad()
def find(then: Solver, now: Solver, instances: Any) -> Drift | None:
    """Return the least confident decision at which the solutions of two solvers first differ.

    Both decode greedily, from the start that was best for ``then``. As in the paper's example,
    instances with a worse new solution are preferred, and among them those on which the solutions
    have at least `SHARED` decisions in common.

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
    """Solve each instance from its start, without the actions after it is done."""
    seen: list[Tensor] = []
    solved = decoding.rollout(
        solver, instances, "greedy", starts=starts, trajectories=1,
        observe=lambda _, log_probs: seen.append(log_probs[:, 0].exp()),
    )  # fmt: skip
    valid = complete(solver.problem, instances, solved.actions, starts) & has_numbers(solved)
    require_valid(solver, solved.cost[:, 0], valid[:, 0])
    courses = []
    for b, actions in enumerate(solved.actions[:, 0].tolist()):
        while len(actions) > 1 and actions[-1] == actions[-2]:
            actions.pop()
        probs = torch.stack([step[b] for step in seen[: len(actions) - len(starts)]])
        courses.append(Course(actions, probs, float(solved.cost[b, 0])))
    return courses
