"""``lifelong-co compare``: finished runs side by side, as tables, figures and a page."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lifelong_co_cli.options import FLAG, Overwrite, Published, References


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="DIR", help="Folders of finished runs; of a sweep: SWEEP/runs/*."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Also write tables, figures and report.html to this folder.",
        ),
    ] = None,
    output: Annotated[
        Literal["text", "csv", "json"],
        typer.Option("--format", metavar="NAME", help="text, csv or json."),
    ] = "text",
    overwrite: Overwrite = False,
    references: References = None,
    split: Annotated[
        bool,
        typer.Option(
            "--split",
            metavar=FLAG,
            help="Also split AP: what was never learned, forgotten and gained back.",
        ),
    ] = False,
    published: Published = False,
) -> None:
    """Compare finished runs: metrics, costs and figures.

    The metrics are AP, AF, AMF, APl and AG. Their best costs d* are taken over
    all lifelong runs. The runs must have the same problem and the same test
    tasks. Runs that differ only in the seed become one row with mean and standard
    deviation. Paired tests compare each row with the first one of the same task
    order.
    """
    import json

    from lifelong_co.api.compare import compared
    from lifelong_co.experiments.comparison import figures, publish, tables
    from lifelong_co.experiments.comparison.makers import mixed
    from lifelong_co_cli.options import places

    if out is not None:
        publish.check_writable(out, overwrite=overwrite)  # before the work that takes time

    def log(line: str) -> None:
        typer.echo(line, err=True)

    both = compared(runs, places(references), published=published, log=log)
    comparison, found = both.comparison, both.references
    means = found.means
    if out is not None:
        for path in both.write(out, overwrite=overwrite, split=split):
            log(f"wrote {path}")
        if not figures.available():
            log(f"no figures: matplotlib is missing; {figures.INSTALL}")
    if output != "text":  # the text contains these lines
        origin = [f"references: {found.origin}"] if means else []
        warning = mixed(comparison.runs)
        for line in (*origin, *found.notes, *([f"warning: {warning}"] if warning else [])):
            log(line)
    if output == "json":
        values = tables.as_json(comparison, means)
        typer.echo(json.dumps(values, indent=2, allow_nan=False))
    elif output == "csv":
        typer.echo(tables.as_csv(comparison, means, split=split), nl=False)
    else:
        typer.echo(tables.as_text(comparison, found, split=split), nl=False)
        if references and not means:  # the user asked for them
            typer.echo(
                f"\nno gaps: {references} has no task whose test instances all have a reference"
            )
