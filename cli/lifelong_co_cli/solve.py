"""``lifelong-co solve``: solve a TSPLIB or CVRPLIB file with a trained solver."""

import math
import os
from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import ADVANCED, FLAG, After, Device, Overwrite


def solve(
    file: Annotated[
        Path, typer.Argument(help="A CVRPLIB .vrp or TSPLIB .tsp file.", metavar="FILE")
    ],
    checkpoint: Annotated[Path, typer.Option(help="Run folder with the solver.", metavar="DIR")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Solution file (default: FILE's stem with .sol or .tour, in this folder).",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Also draw the routes to this file.")
    ] = None,
    overwrite: Overwrite = False,
    device: Device = "auto",
    after: After = None,
    augment: Annotated[
        bool,
        typer.Option(
            metavar=FLAG,
            help="Solve also the eight symmetric images.",
            rich_help_panel=ADVANCED,
        ),
    ] = True,
    trajectories: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Start from the first N nodes (default: all).",
            min=1,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    best_known: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Best-known cost (default: of a .sol or .opt.tour beside FILE).",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
) -> None:
    """Solve a TSPLIB or CVRPLIB file, and write the solution.

    The solution is checked. Costs are in the units of the file. The gap is
    shown where a best-known cost is found.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.evaluation import named_test
    from lifelong_co.experiments.comparison.routes import plot_routes
    from lifelong_co.instance_files.solutions import best_known as stored_best
    from lifelong_co.instance_files.solutions import check, write_solution
    from lifelong_co.instance_files.solve import best_each
    from lifelong_co.instance_files.vrplib_instances import (
        read_instance,
    )
    from lifelong_co.runs.trained_solver import load_solver
    from lifelong_co_cli.system import choose_device

    if best_known is not None and not 0 < best_known < math.inf:
        raise ConfigError(f"--best-known: expected more than 0 and finite, got {best_known}")
    known = best_known if best_known is not None else stored_best(file)
    instance = read_instance(file, best_known=known)
    target = out or Path(f"{file.stem}.{'sol' if instance.problem == 'cvrp' else 'tour'}")
    check_outputs(file, target, plot, overwrite=overwrite)
    solver = load_solver(checkpoint, after=after, device=choose_device(device))
    if solver.problem.name != instance.problem:
        raise ConfigError(
            f"{file}: the file is a {instance.problem} instance, "
            f"the solver in {checkpoint} was trained on {solver.problem.name}"
        )
    with named_test(f"{checkpoint} on {file}"):
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


def check_outputs(file: Path, target: Path, plot: Path | None, *, overwrite: bool) -> None:
    """Refuse, before the work, outputs that cannot be written or would replace the instance.

    Raises
    ------
    ConfigError
        If there is such an output.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.storage.files import refuse_unwritable_file
    from lifelong_co_cli.options import check_plot

    if plot is not None and target.resolve() == plot.resolve():
        raise ConfigError(f"{target}: expected different files for the solution and the plot")
    for wanted in (target, plot):
        if wanted is None:
            continue
        if wanted.resolve() == file.resolve():
            raise ConfigError(f"{wanted}: expected a file to write, got the instance")
        if os.path.lexists(wanted) and not overwrite:
            raise ConfigError(f"{wanted}: exists already; choose another name or --overwrite")
        refuse_unwritable_file(wanted, overwrite=overwrite)
    if plot is not None:
        check_plot(plot)
