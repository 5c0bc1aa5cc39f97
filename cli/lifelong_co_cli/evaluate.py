"""``lifelong-co evaluate``: test a trained solver on tasks."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer


def evaluate(
    run: Annotated[Path, typer.Argument(help="Run folder.", metavar="DIR")],
    task: Annotated[
        list[str] | None,
        typer.Option(help="A task of the run (E50) or a distribution and size (U:20); repeatable."),
    ] = None,
    after: Annotated[
        int | None, typer.Option(help="The solver as it was after this many tasks.")
    ] = None,
    tests: Annotated[int | None, typer.Option(help="Test instances per task.", min=1)] = None,
    augment: Annotated[bool, typer.Option("--augment", help="x8 augmentation.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, …")] = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test the solver of a run: the mean cost of the best of the multi-start, per task."""
    from lifelong_co.evaluation import mean_cost
    from lifelong_co.run_folder import RunFolder
    from lifelong_co.streams import testing
    from lifelong_co.trained import load_solver
    from lifelong_co_cli.options import choose_device

    config = RunFolder(run).config()
    chosen = [find(name, config.tasks) for name in task] if task else list(config.tasks)
    solver = load_solver(run, after=after, device=choose_device(device))
    costs = {}
    for one in chosen:
        groups = testing(one, solver.problem, tests or config.tests)
        costs[one.label] = mean_cost(solver, groups, augment=augment)
        if not json:
            print(f"{one.label:<12} {costs[one.label]:.4f}", flush=True)
    if json:
        print(json_module.dumps(costs))


def find(name: str, tasks: Any) -> Any:
    """Return a task of the run by its name, or a new one from ``DISTRIBUTION:SIZE``.

    Raises
    ------
    UnknownNameError
        If it is neither.
    """
    from lifelong_co.errors import UnknownNameError
    from lifelong_co.tasks import Task

    distribution, separator, size = name.partition(":")
    if separator and size.isdecimal():
        return Task(distribution=distribution, size=int(size), epochs=1, batches=1, batch_size=1)
    for one in tasks:
        if one.label == name:
            return one
    known = [one.label for one in tasks]
    raise UnknownNameError("task", name, known, "Or give a distribution and a size, e.g. U:20.")
