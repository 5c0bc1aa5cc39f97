"""``lifelong-co report``: the paper's tables and figures of finished runs, and one page of both."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lifelong_co_cli.options import Overwrite, Published, References


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Folders of finished runs, benchmarks or sweeps; subfolders are searched.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder for report.html, tables and figures."),
    ] = Path("report"),
    output: Annotated[
        Literal["text", "markdown", "latex", "csv"],
        typer.Option("--format", metavar="NAME", help="text, markdown, latex or csv."),
    ] = "text",
    overwrite: Overwrite = False,
    references: References = None,
    published: Published = False,
) -> None:
    """Make the paper's tables and figures from finished runs.

    Tables: metrics over all orders and of each order, hyperparameters,
    ablations, other solvers, costs with optimality gaps, benchmark instances,
    content of the buffer. Figures: forgetting and plasticity of each order, the
    buffer, a decision that drifts.

    A folder of imported or pretrained parameters adds a row to the costs: its
    solver, tested without learning (zero-shot).
    """
    from lifelong_co.experiments.comparison import figures
    from lifelong_co.experiments.comparison.publish import check_writable
    from lifelong_co.experiments.paper.assemble import make_report
    from lifelong_co.experiments.paper.collect import collect
    from lifelong_co.experiments.paper.write import PLACES, older_files, printed, write_report
    from lifelong_co_cli.options import places
    from lifelong_co_cli.system import choose_device

    def log(line: str) -> None:
        typer.echo(line, err=True)

    check_writable(out, PLACES, overwrite=overwrite)  # before the work that takes time
    found = collect(folders)
    made = make_report(
        found,
        places(references),
        log,
        definition="published" if published else "text",
        device=choose_device("auto"),
    )
    written = write_report(made, out, overwrite=overwrite)
    typer.echo(printed(made, output), nl=False)
    for line in made.missing:
        log(f"not in this report: {line}")
    for line in made.left_out:
        log(f"left out: {line}")
    older = older_files(out, written)
    if older:
        more = f" and {len(older) - 1} more" if len(older) > 1 else ""
        log(f"left from an earlier report: {older[0]}{more}")
    if not figures.available():
        log(f"no figures: matplotlib is missing; {figures.INSTALL}")
    log(f"wrote {out / 'report.html'}, {len(written) - 1} tables and figures beside it")
