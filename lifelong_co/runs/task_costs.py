"""The tests of a run: the costs of a solver on the test instances of its tasks."""

from collections.abc import Iterable

from lifelong_co.evaluation import mean_cost, named_test
from lifelong_co.protocols import Solver
from lifelong_co.runs.costs import Cost
from lifelong_co.runs.run import Run
from lifelong_co.runs.step_checks import positive_cost


def task_costs(
    run: Run, solver: Solver, learning: int, epoch: int, tasks: Iterable[int]
) -> list[Cost]:
    """Return the costs of a solver on some tasks of a run.

    Parameters
    ----------
    solver
        As it was, or is, after ``epoch`` epochs of task ``learning``.
    learning, tasks
        Numbers of tasks, from 0.

    Raises
    ------
    InvalidRolloutError, ComponentError
        If a solution is infeasible or a cost is not finite, or if a mean cost is not above 0; the
        message names the task that is tested.
    """
    return [
        Cost(
            learning=learning + 1,
            epoch=epoch,
            tested=j + 1,
            name=run.config.tasks[j].label,
            cost=_cost(run, solver, f"epoch {epoch} of task {run.config.tasks[learning].label}", j),
        )
        for j in tasks
    ]


def _cost(run: Run, solver: Solver, after: str, task: int) -> float:
    config = run.config
    where = f"{run.folder.path}, by solver {config.solver!r}; nothing of it is saved"
    with named_test(f"task {config.tasks[task].label} after {after} in {where}"):
        cost = mean_cost(
            solver, run.tests[task], augment=config.augment, symmetries=config.symmetries
        )
        return positive_cost(config, task, cost)
