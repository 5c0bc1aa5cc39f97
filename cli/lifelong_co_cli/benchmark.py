"""``lifelong-co benchmark``: trained solvers on TSPLIB and CVRPLIB, ending in the paper's table."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lifelong_co_cli.options import ADVANCED, FLAG, After, Device, References, check_folder

if TYPE_CHECKING:
    from lifelong_co.experiments.benchmark.conduct import Entrant
    from lifelong_co.instance_files.file_instance import FileInstance


def benchmark(
    library: Annotated[
        str,
        typer.Argument(
            metavar="LIBRARY",
            help="tsplib, cvrplib, or a problem with a file format, e.g. mtvrp (Solomon).",
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of instance files.")],
    checkpoint: Annotated[
        list[Path],
        typer.Option(metavar="DIR", help="Run folder with a solver; repeatable."),
    ],
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            metavar=FLAG,
            help="Use the instances of the paper, divide coordinates by the largest one, and do not"
            " round lengths.",
        ),
    ] = False,
    augment: Annotated[
        bool,
        typer.Option(
            "--augment",
            metavar=FLAG,
            help="Solve also the eight symmetric images of each instance, as solve does; the paper"
            " does not.",
        ),
    ] = False,
    largest: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=2, help="Leave out instances with more than N nodes or customers."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write results.json, table.txt, table.md and table.csv here. A second start"
            " with this folder solves only what is missing or has changed.",
        ),
    ] = None,
    output: Annotated[
        Literal["text", "markdown", "csv"],
        typer.Option("--format", metavar="NAME", help="text, markdown or csv."),
    ] = "text",
    references: References = None,
    device: Device = "auto",
    after: After = None,
    at_once: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Trajectories in memory at a time (default: by device and size).",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    batch: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Instances of one size solved together, if they fit in memory.",
            rich_help_panel=ADVANCED,
        ),
    ] = 1,
) -> None:
    """Solve the instance files of a folder, and print a table of gaps.

    Decoding is greedy from every node (INViT: one solution if there is a depot).
    The table also has the nearest-neighbor rule. Files that cannot be used are
    named and left out.
    """
    from lifelong_co.experiments.benchmark import results as kept
    from lifelong_co.experiments.benchmark import tables
    from lifelong_co.experiments.benchmark.conduct import How, conduct
    from lifelong_co.experiments.benchmark.folder import read_folder
    from lifelong_co.experiments.references.cache import FOLDER
    from lifelong_co.storage.files import refuse_unwritable, write_whole
    from lifelong_co.storage.lock import alone
    from lifelong_co_cli.system import choose_device

    def log(line: str) -> None:
        typer.echo(line, err=True)

    check_folder(references, "--references")
    if out is not None:
        refuse_unwritable(out)
    found = read_folder(
        library, folder, paper=paper, largest=largest, references=references or FOLDER
    )
    where = choose_device(device)
    entrants = _entrants(checkpoint, after, where, found.instances[0].problem)
    for line in (*(f"left out: {reason}" for reason in found.refused), *found.faults):
        log(line)
    for path, entrant in entrants.items():
        _warn_of_sizes(path, entrant.label, after, found.instances, log)
    settings = {
        "library": str(library),
        "paper": paper,
        "augment": augment,
        "after": after,
        "checkpoints": {one.label: str(path) for path, one in entrants.items()},
    }

    def keep(results: Sequence[kept.Result]) -> None:
        if out is not None:
            kept.save(out, settings, results, [one.name for one in found.instances])

    refusal = f"{out}: another process writes a benchmark here; wait for it or stop it"
    with nullcontext() if out is None else alone(out, refusal):  # it would replace the results
        try:
            done = conduct(
                found.instances,
                list(entrants.values()),
                kept.load(out, settings) if out is not None else [],
                How(as_paper=paper, augment=augment, at_once=at_once, batch=batch),
                keep=keep,
                log=log,
            )
        except KeyboardInterrupt:
            if out is not None:
                log(f"stopped; the same command continues with the results in {out}")
            raise
        texts = {
            "table.txt": tables.as_text(done, rounded=not paper),
            "table.md": tables.as_markdown(done, rounded=not paper),
            "table.csv": tables.as_csv(done),
        }
        if out is not None:
            for name, text in texts.items():
                write_whole(out / name, text)
    chosen = {"text": "table.txt", "markdown": "table.md", "csv": "table.csv"}
    typer.echo(texts[chosen[output]], nl=False)


def _entrants(
    runs: list[Path], after: int | None, device: str, problem: str
) -> "dict[Path, Entrant]":
    """Return folder to solver; labels are the runs' methods if these differ.

    Raises
    ------
    ConfigError
        If a run was trained on another problem, or is given twice.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.experiments.benchmark.conduct import Entrant
    from lifelong_co.experiments.comparison.labels import label
    from lifelong_co.runs.folder import RunFolder
    from lifelong_co.runs.trained_solver import fingerprint, load_solver

    paths = [run.resolve() for run in runs]
    if len(set(paths)) < len(paths):
        raise ConfigError("--checkpoint: the same run is given twice")
    labels = label([RunFolder(run).config() for run in runs])
    if len(set(labels)) < len(labels):
        labels = [f"{name} [{run}]" for name, run in zip(labels, runs, strict=True)]
    entrants = {}
    for name, run, path in zip(labels, runs, paths, strict=True):
        solver = load_solver(run, after=after, device=device)
        if solver.problem.name != problem:
            raise ConfigError(
                f"{run}: expected a solver of {problem}, got one of {solver.problem.name}"
            )
        entrants[path] = Entrant(name, solver, fingerprint(run, solver))
    return entrants


def _warn_of_sizes(
    run: Path,
    label: str,
    after: int | None,
    instances: "Sequence[FileInstance]",
    log: Callable[[str], None],
) -> None:
    """Log the instances that are far larger than what a run has learned."""
    from lifelong_co.experiments.benchmark.cautions import largest_of_run, too_large

    largest = largest_of_run(run, after)
    large = [warning for one in instances if (warning := too_large(one, largest))]
    if large:
        more = f" (and {len(large) - 1} more instances)" if len(large) > 1 else ""
        log(f"warning: {label}: {large[0]}{more}")
