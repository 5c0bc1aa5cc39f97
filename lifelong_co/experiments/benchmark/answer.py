"""A solver's solution of one file, and what it is compared with."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from lifelong_co.errors import ConfigError
from lifelong_co.evaluation import named_test
from lifelong_co.experiments.benchmark.improve import improved
from lifelong_co.experiments.references.gaps import gap
from lifelong_co.instance_files.closed_routes import refuse_other_costs
from lifelong_co.instance_files.file_instance import FileInstance, cost
from lifelong_co.instance_files.nearest_neighbor import nearest_neighbor
from lifelong_co.instance_files.route_rules import in_time
from lifelong_co.instance_files.solutions import check
from lifelong_co.instance_files.solve import best_each
from lifelong_co.protocols import Problem, Solver
from lifelong_co.validators import at_least, boolean, converted_fields, not_negative

Integers = npt.NDArray[np.int64]


@attrs.frozen(kw_only=True, field_transformer=converted_fields)
class Effort:
    """What is done for a file."""

    augment: bool = attrs.field(default=True, validator=boolean)
    """As for `solve.best_each`, like the next one."""
    trajectories: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(at_least(1))
    )
    improve: float = attrs.field(default=0.0, validator=not_negative)
    """Seconds for which PyVRP goes on from the solver's solution; 0: not at all."""
    compare: bool = attrs.field(default=False, validator=boolean)
    """Whether PyVRP also solves the file alone, in the same time."""


@attrs.frozen(eq=False, kw_only=True)
class Answer:
    """Solutions of one file and their costs, in the units of the file."""

    instance: FileInstance
    actions: Integers
    """``[T]``: the best solution that began with the solver."""
    found: float
    """The cost of the solver's solution."""
    routes: int
    """The number of its routes."""
    seconds: float
    """Time of the solver."""
    nearest: float
    """The least cost of the nearest-neighbor rule."""
    starts: int
    """The number of its starts."""
    effort: Effort
    cost: float
    """The cost of ``actions``."""
    alone: float | None = None
    """What PyVRP reaches alone; None if it was not asked for or finds no solution."""

    def lines(self) -> Iterator[str]:
        """Yield the lines to print."""
        ends = f"feasible ({_counted(self.routes)}), {self.seconds:.1f} s"
        best = self.instance.best_known
        known = f", best known {best:.10g}" if best else ""
        yield f"{self.instance.name}: cost {self.found:.10g}{known}{self._gap(self.found)}; {ends}"
        starts = f"best of {self.starts} starts" if self.starts > 1 else "one start"
        less = ", less than the solver's" if self.nearest < self.found else ""
        yield f"nearest neighbor: {self._shown(self.nearest)} ({starts}){less}"
        if self.effort.improve:
            time = f"{self.effort.improve:g} s"
            routes = _counted(len(check(self.instance, self.actions).routes))
            improved = f"{self._shown(self.cost)} ({routes})"
            yield f"PyVRP from the solver's solution, {time}: {improved}"
            if self.effort.compare:
                alone = "no solution" if self.alone is None else self._shown(self.alone)
                yield f"PyVRP alone, {time}: {alone}"

    def _shown(self, value: float) -> str:
        return f"cost {value:.10g}{self._gap(value)}"

    def _gap(self, value: float) -> str:
        best = self.instance.best_known
        return f", gap {gap(value, best):.2%}" if best else ""


def _counted(routes: int) -> str:
    return f"{routes} {'route' if routes == 1 else 'routes'}"


def answer(
    solver: Solver,
    instance: FileInstance,
    effort: Effort,
    *,
    label: str,
    progress: Callable[[float], None] | None = None,
) -> Answer:
    """Solve a file.

    Parameters
    ----------
    solver
        For the problem of the file.
    instance
        The instance.
    effort
        What is done.
    label
        The solver's name in errors.
    progress
        Called with the share of the solver's work that is done, from 0 to 1.

    Raises
    ------
    InvalidSolutionError
        If a solution does not solve the file.
    """
    begin = time.perf_counter()
    with named_test(f"{label} on {instance.name}"):
        (found,) = best_each(
            solver,
            [instance],
            augment=effort.augment,
            trajectories=effort.trajectories,
            progress=progress,
        )
    seconds = time.perf_counter() - begin
    actions, alone = found.actions, None
    neural = check(instance, actions)
    least, starts = nearest(instance, solver.problem)
    if effort.improve:
        started = improved(instance, effort.improve, actions)
        actions = actions if started is None else started
    if effort.improve and effort.compare:
        other = improved(instance, effort.improve)
        alone = None if other is None else check(instance, other).cost
    return Answer(
        instance=instance,
        actions=actions,
        found=neural.cost,
        routes=len(neural.routes),
        seconds=seconds,
        nearest=least,
        starts=starts,
        effort=effort,
        cost=check(instance, actions).cost,
        alone=alone,
    )


def nearest(instance: FileInstance, problem: Problem) -> tuple[float, int]:
    """Return the least cost of the nearest-neighbor rule, and the number of its starts."""
    tours = nearest_neighbor(instance, problem)
    return min(cost(instance, in_time(instance, each)) for each in tours), len(tours)


def refuse_other(instance: FileInstance, solver: Solver, file: Path, label: str) -> None:
    """Refuse a file of another problem, or with other costs, than a solver (``label``) has.

    Raises
    ------
    ConfigError
        If it is one.
    """
    learned = solver.problem.name
    if learned != instance.problem:
        raise ConfigError(
            f"{file}: the file is a {instance.problem} instance, {label} was trained on {learned}"
        )
    refuse_other_costs(instance, solver.problem)
