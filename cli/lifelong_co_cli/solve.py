"""``lifelong-co solve``: solve a TSPLIB or CVRPLIB file with a trained solver."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import DEVICE


def solve(
    file: Annotated[
        Path, typer.Argument(help="A CVRPLIB .vrp or TSPLIB .tsp file.", metavar="FILE")
    ],
    checkpoint: Annotated[
        Path, typer.Option(help="Folder of the run that trained the solver.", metavar="DIR")
    ],
    after: Annotated[
        int | None,
        typer.Option(
            help="Take the solver as it was after this many tasks; as it is now when not given."
        ),
    ] = None,
    augment: Annotated[
        bool, typer.Option(help="Solve the eight symmetric images of the instance, too.")
    ] = True,
    trajectories: Annotated[
        int | None,
        typer.Option(
            help="Start from the first so many nodes; from every node when not given.", min=1
        ),
    ] = None,
    best_known: Annotated[
        float | None,
        typer.Option(
            min=0, help="Best-known cost; when not given, that of a .sol or .opt.tour beside FILE."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Solution file to write; when not given the stem of FILE with .sol (CVRP) or"
            " .tour (TSP), in the current folder.",
            metavar="FILE",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the routes.", metavar="PNG")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files that are there.")
    ] = False,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
) -> None:
    """Solve a TSPLIB or CVRPLIB file, check the solution, and write it.

    Costs are in the file's own units. The gap is shown where a best-known cost is given.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.experiments.comparison.routes import plot_routes
    from lifelong_co.instance_files.solutions import best_known as stored_best
    from lifelong_co.instance_files.solutions import check, write_solution
    from lifelong_co.instance_files.solve import best_each
    from lifelong_co.instance_files.vrplib_instances import read_instance
    from lifelong_co.runs.trained_solver import load_solver
    from lifelong_co_cli.system import choose_device

    known = best_known if best_known is not None else stored_best(file)
    instance = read_instance(file, best_known=known)
    solver = load_solver(checkpoint, after=after, device=choose_device(device))
    if solver.problem.name != instance.problem:
        raise ConfigError(
            f"{file}: the file is a {instance.problem} instance, "
            f"the solver in {checkpoint} was trained on {solver.problem.name}"
        )
    target = out or Path(f"{file.stem}.{'sol' if instance.problem == 'cvrp' else 'tour'}")
    if target == plot:
        raise ConfigError(f"{target}: expected different files for the solution and the plot")
    for wanted in (target, plot):
        if wanted is not None and os.path.lexists(wanted) and not overwrite:
            raise ConfigError(f"{wanted}: exists already; choose another name or --overwrite")
    (found,) = best_each(solver, [instance], augment=augment, trajectories=trajectories)
    actions = found.actions
    report = check(instance, actions)
    write_solution(target, instance, actions, report.cost, overwrite=overwrite)
    shown = f"{instance.name}: cost {report.cost}"
    if instance.best_known:
        gap = report.cost / instance.best_known - 1
        shown += f", best known {instance.best_known:.10g}, gap {gap:.2%}"
    count = len(report.routes)
    print(f"{shown}; feasible ({count} {'route' if count == 1 else 'routes'})")
    print(f"solution: {target}")
    if plot is not None:
        plot_routes(instance, actions, plot, overwrite=overwrite)
        print(f"plot: {plot}")
