"""``lifelong-co report``: the paper's tables and figures of finished runs, and one page of both."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.compare import Overwrite
from lifelong_co_cli.options import REFERENCES


class Format(StrEnum):
    """What the tables are printed as."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Folders of finished runs or benchmarks, or folders above such, e.g. a sweep's.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Where report.html, tables/ and figures/ are written."
        ),
    ] = Path("report"),
    output: Annotated[
        Format, typer.Option("--format", help="What to print on standard output.")
    ] = Format.TEXT,
    overwrite: Overwrite = False,
    references: Annotated[Path, typer.Option(metavar="DIR", help=REFERENCES)] = Path("references"),
) -> None:
    """Make the paper's tables and figures of finished runs, as files and as one page.

    Tables: metrics over the orders, hyperparameters and ablations, other solvers, each order, costs
    with optimality gaps, benchmark instances, what the buffer holds. Figures: forgetting and
    plasticity of each order, the buffer, a low-confidence decision that drifts.
    """
    from lifelong_co.experiments.comparison import figures
    from lifelong_co.experiments.comparison.publish import check_writable
    from lifelong_co.experiments.paper.assemble import make_report
    from lifelong_co.experiments.paper.collect import collect
    from lifelong_co.experiments.paper.write import PLACES, older_files, printed, write_report
    from lifelong_co_cli.places import places

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    check_writable(out, PLACES, overwrite=overwrite)  # before the work, not after it
    found = collect(folders)
    made = make_report(found, places(references), tell)
    written = write_report(made, out, overwrite=overwrite)
    typer.echo(printed(made, output), nl=False)
    for line in made.missing:
        tell(f"not in this report: {line}")
    for line in made.left_out:
        tell(f"left out: {line}")
    older = older_files(out, written)
    if older:
        more = f" and {len(older) - 1} more" if len(older) > 1 else ""
        tell(f"left from an earlier report: {older[0]}{more}")
    if not figures.available():
        tell(f"no figures: matplotlib is missing; {figures.INSTALL}")
    tell(f"wrote {out / 'report.html'}, {len(written) - 1} tables and figures beside it")
