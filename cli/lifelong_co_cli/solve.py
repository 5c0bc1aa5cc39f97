"""``lifelong-co solve``: solve a TSPLIB or CVRPLIB file with a trained solver."""

from pathlib import Path
from typing import Annotated

import typer


def solve(
    file: Annotated[Path, typer.Argument(help="A .vrp or .tsp file.", metavar="FILE")],
    checkpoint: Annotated[Path, typer.Option(help="Run folder of the solver.", metavar="DIR")],
    after: Annotated[
        int | None, typer.Option(help="The solver as it was after this many tasks.")
    ] = None,
    augment: Annotated[bool, typer.Option(help="Try the eight symmetric images.")] = True,
    trajectories: Annotated[
        int | None, typer.Option(help="Multi-starts; one from every node when not given.", min=1)
    ] = None,
    best_known: Annotated[
        float | None, typer.Option(help="Best-known cost; else a .sol or .opt.tour beside FILE.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Solution file; the stem of FILE with .sol or .tour when not given.",
            metavar="FILE",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the routes.", metavar="PNG")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, …")] = "auto",
) -> None:
    """Solve an instance in its own units, check the solution, and write it."""
    from lifelong_co.errors import ConfigError
    from lifelong_co.report.routes import plot_routes
    from lifelong_co.solutions import best_known as stored_best
    from lifelong_co.solutions import check, write_solution
    from lifelong_co.solving import best_solution
    from lifelong_co.trained import load_solver
    from lifelong_co.vrplib_files import read_instance
    from lifelong_co_cli.options import choose_device

    known = best_known if best_known is not None else stored_best(file)
    instance = read_instance(file, best_known=known)
    solver = load_solver(checkpoint, after=after, device=choose_device(device))
    if solver.problem.name != instance.problem:
        raise ConfigError(
            f"{file}: the file is a {instance.problem} instance, "
            f"the solver in {checkpoint} was trained on {solver.problem.name}"
        )
    target = out or Path(f"{file.stem}.{'sol' if instance.problem == 'cvrp' else 'tour'}")
    for wanted in (target, plot):
        if wanted is not None and wanted.exists() and not overwrite:
            raise ConfigError(f"{wanted}: exists already; choose another name or --overwrite")
    actions = best_solution(solver, instance, augment=augment, trajectories=trajectories)
    report = check(instance, actions)
    write_solution(target, instance, actions, report.cost, overwrite=overwrite)
    shown = f"{instance.name}: cost {report.cost}"
    if instance.best_known:
        gap = report.cost / instance.best_known - 1
        shown += f", best known {instance.best_known:g}, gap {gap:.2%}"
    print(f"{shown}; feasible ({len(report.routes)} routes)")
    print(f"solution: {target}")
    if plot is not None:
        plot_routes(instance, actions, plot, overwrite=overwrite)
        print(f"plot: {plot}")
