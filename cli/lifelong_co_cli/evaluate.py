"""``lifelong-co evaluate``: test a trained solver on tasks."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from lifelong_co_cli.options import DEVICE, REFERENCES


def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="DIR")],
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="A task of the run, e.g. E50, or any distribution and size, e.g. U:20 or"
            " U:20:manhattan; give it again for more. All tasks of the run when not given."
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option(
            help="Take the solver as it was after this many tasks; as it is now when not given."
        ),
    ] = None,
    tests: Annotated[
        int | None,
        typer.Option(help="Test instances per task; as in the run when not given.", min=1),
    ] = None,
    augment: Annotated[
        bool,
        typer.Option("--augment", help="Solve the eight symmetric images of each instance, too."),
    ] = False,
    references: Annotated[Path, typer.Option(metavar="DIR", help=REFERENCES)] = Path("references"),
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: task to mean cost.")
    ] = False,
) -> None:
    """Test the solver of a run on tasks and print the mean cost on each.

    Decoding is greedy from every node; the best solution of an instance counts. The gap to
    near-optimal costs is shown where --references has them.
    """
    import torch

    from lifelong_co.errors import LifelongError
    from lifelong_co.evaluation import best_costs
    from lifelong_co.experiments.references.gaps import gap_of
    from lifelong_co.experiments.references.lookup import of_task, origins
    from lifelong_co.runs.folder import RunFolder
    from lifelong_co.runs.trained_solver import load_solver
    from lifelong_co.tasks.instances import testing
    from lifelong_co_cli.options import choose_device
    from lifelong_co_cli.places import places

    config = RunFolder(run).config()
    chosen = [find(name, config.tasks) for name in task] if task else list(config.tasks)
    solver = load_solver(run, after=after, device=choose_device(device))
    count, looked = tests or config.tests, places(references)
    costs = {}
    for one in chosen:
        groups = testing(one, solver.problem, count)
        each = torch.cat([best_costs(solver, group, augment=augment) for group in groups]).double()
        costs[one.label] = float(each.mean())
        if not json:
            try:
                known = of_task(looked, one, solver.problem, count, groups)
            except LifelongError as error:  # the costs are worth more than the gap
                typer.echo(f"no gap on {one.label}: {error}", err=True)
                known = []
            gap = gap_of(each.tolist(), known)
            shown = f"  {gap} to {looked.named(origins(known))}" if gap else ""
            print(f"{one.label:<12} {costs[one.label]:.4f}{shown}", flush=True)
    if json:
        print(json_module.dumps(costs))


def find(name: str, tasks: Any) -> Any:
    """Return a task of the run by its name, or a new one from ``DISTRIBUTION:SIZE[:DISTANCE]``.

    Raises
    ------
    UnknownNameError
        If it is neither.
    """
    import attrs

    from lifelong_co.errors import UnknownNameError
    from lifelong_co.tasks.task import Task

    distribution, _, rest = name.partition(":")
    size, _, distance = rest.partition(":")
    if size.isdecimal():
        task = Task(distribution=distribution, size=int(size), epochs=1, batches=1, batch_size=1)
        return attrs.evolve(task, distance=distance) if distance else task
    for one in tasks:
        if one.label == name:
            return one
    known = [one.label for one in tasks]
    raise UnknownNameError("task", name, known, "Or give a distribution and a size, e.g. U:20.")
