"""``lifelong-co solve``: solve instance files with a trained solver."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lifelong_co_cli.advice import note_unfinished, refuse_npz
from lifelong_co_cli.options import ADVANCED, FLAG, After, Device, Overwrite, References

if TYPE_CHECKING:
    from lifelong_co.instance_files.file_instance import FileInstance
    from lifelong_co.protocols import Solver


def solve(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="CVRPLIB .vrp, TSPLIB .tsp or .atsp, Solomon .txt files.", metavar="FILE"
        ),
    ],
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Run folder with the solver (default: the weights shipped for the problem).",
            metavar="DIR",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Solution file, or a folder; that of several is made if missing (default:"
            " FILE's stem with .sol or .tour, in the working directory).",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Also draw the routes to this .png file, or into a folder."
        ),
    ] = None,
    improve: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Let PyVRP go on from the solver's solution for this time."
        ),
    ] = 0.0,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            metavar=FLAG,
            help="Beside --improve: show what PyVRP reaches alone in the same time.",
        ),
    ] = False,
    overwrite: Overwrite = False,
    device: Device = "auto",
    after: After = None,
    references: References = None,
    augment: Annotated[
        bool,
        typer.Option(
            metavar=FLAG,
            help="Solve also the eight symmetric images (benchmark does so only on request).",
            rich_help_panel=ADVANCED,
        ),
    ] = True,
    trajectories: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Start from the first N nodes (default: all; INViT with a depot: one solution).",
            min=1,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    best_known: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Best-known cost of the one FILE (default: of a .sol or .opt.tour beside it, of a"
            " published list, or of --references).",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
) -> None:
    """Solve instance files, and write the solutions.

    Every solution is checked. Costs are in the units of the file. The output also
    has the cost of the nearest-neighbor rule, and the gap if a best-known cost is
    found.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.experiments.benchmark.answer import Effort, answer, refuse_other
    from lifelong_co.experiments.benchmark.cautions import coarse, too_large
    from lifelong_co.experiments.benchmark.improve import refuse_unmodelled
    from lifelong_co.experiments.benchmark.known import beside
    from lifelong_co.experiments.comparison.routes import plot_routes, refuse_without_coordinates
    from lifelong_co.instance_files.solutions import write_solution
    from lifelong_co.runs.folder import RunFolder
    from lifelong_co_cli.options import check_folder
    from lifelong_co_cli.progress import share_of_work
    from lifelong_co_cli.solve_outputs import check_outputs, make_folders, places
    from lifelong_co_cli.system import choose_device

    if best_known is not None and not 0 < best_known < math.inf:
        raise ConfigError(f"--best-known: expected more than 0 and finite, got {best_known}")
    if best_known is not None and len(files) > 1:
        raise ConfigError(f"--best-known: expected one FILE, got {len(files)}")
    if not 0 <= improve < math.inf:
        raise ConfigError(f"--improve: expected seconds of at least 0, got {improve}")
    if after is not None and checkpoint is None:
        raise ConfigError("--after: expected --checkpoint DIR beside it")
    if compare and not improve:
        raise ConfigError("--compare: expected --improve SECONDS beside it")
    check_folder(references, "--references")
    problem = RunFolder(checkpoint).config().problem if checkpoint else None
    instances = [_read(file, problem, best_known, references) for file in files]
    targets = places(files, instances, out, plot)
    for file, instance, (target, picture) in zip(files, instances, targets, strict=True):
        known = beside(file, instance)
        check_outputs(file, target, picture, known, overwrite=overwrite, new_folder=len(files) > 1)
    for instance in instances:
        if improve:
            refuse_unmodelled(instance)
        if plot is not None:
            refuse_without_coordinates(instance)
    where = choose_device(device)
    solvers = {
        name: _solver(checkpoint, name, after, where)
        for name in dict.fromkeys(one.problem for one in instances)
    }
    for file, instance in zip(files, instances, strict=True):
        solver, _, label = solvers[instance.problem]
        refuse_other(instance, solver, file, label)
    if len(files) > 1:
        make_folders({"--out": out, "--plot": plot})
    effort = Effort(augment=augment, trajectories=trajectories, improve=improve, compare=compare)
    for instance, (target, picture) in zip(instances, targets, strict=True):
        solver, largest, label = solvers[instance.problem]
        _warn(too_large(instance, largest))
        try:
            with share_of_work(instance.name) as progress:
                found = answer(solver, instance, effort, label=label, progress=progress)
        except KeyboardInterrupt:
            typer.echo(f"stopped: no solution of {instance.name} is written", err=True)
            raise
        _warn(coarse(instance, found.actions))
        write_solution(target, instance, found.actions, found.cost, overwrite=overwrite)
        for line in (*found.lines(), f"solution: {target}"):
            print(line, flush=True)
        if picture is not None:
            plot_routes(instance, found.actions, picture, overwrite=overwrite)
            print(f"plot: {picture}", flush=True)


def _warn(text: str) -> None:
    if text:
        typer.echo(f"warning: {text}", err=True)


def _read(
    file: Path, problem: str | None, best_known: float | None, references: Path | None
) -> "FileInstance":
    """Read a file, with the best known cost."""
    import attrs

    from lifelong_co.experiments.benchmark.known import known_of
    from lifelong_co.experiments.references.cache import FOLDER
    from lifelong_co.instance_files.formats import read_file

    refuse_npz(file)
    instance = read_file(file, problem)
    if best_known is None:
        best_known = known_of(file, instance, references or FOLDER, _warn)
    return attrs.evolve(instance, best_known=best_known)


def _solver(
    checkpoint: Path | None, problem: str, after: int | None, device: str
) -> "tuple[Solver, int | None, str]":
    """Return the solver, the largest size that it has learned, and its name for messages."""
    from lifelong_co_adapters import shipped

    from lifelong_co.experiments.benchmark.cautions import largest_of_run
    from lifelong_co.runs.trained_solver import load_solver

    if checkpoint is None:
        found = shipped.load(problem, device=device)
        return found.solver, found.largest, f"the shipped weights for {problem}"
    solver = load_solver(checkpoint, after=after, device=device)
    note_unfinished(checkpoint, after)
    return solver, largest_of_run(checkpoint, after), str(checkpoint)
