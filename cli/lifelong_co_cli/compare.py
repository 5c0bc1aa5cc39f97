"""``lifelong-co compare``: finished runs side by side, as tables, figures and a page."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import REFERENCES

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report in --out.")]


class Format(StrEnum):
    """What the comparison is printed as."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of finished runs.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Also write table.txt, table.csv, forgetting.png, plasticity.png and report.html"
            " to this folder.",
        ),
    ] = None,
    output: Annotated[
        Format, typer.Option("--format", help="What to print on standard output.")
    ] = Format.TEXT,
    overwrite: Overwrite = False,
    references: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help=f"{REFERENCES} `references` when not given; with it there are gaps."
        ),
    ] = None,
) -> None:
    """Compare finished runs: AP, AF, AMF, APl and AG with a common d*, costs and figures.

    The runs must be of one problem and test the same tasks. Runs that differ only in the seed are
    shown as mean and standard deviation.
    """
    import json

    from lifelong_co.experiments.comparison import figures, publish, tables
    from lifelong_co.experiments.comparison.comparison import compare_folders
    from lifelong_co.experiments.references.gaps import mean_references
    from lifelong_co_cli.places import places

    comparison = compare_folders(runs)
    found = mean_references(comparison.runs[0].config, places(references))
    means = found.means
    if out is not None:
        written = publish.write_report(comparison, out, overwrite=overwrite, references=found)
        for path in written:
            typer.echo(f"wrote {path}", err=True)
        if not figures.available():
            typer.echo(f"no figures: matplotlib is missing; {figures.INSTALL}", err=True)
    if output is not Format.TEXT:  # which says so itself
        origin = [f"references: {found.origin}"] if means else []
        for line in (*origin, *found.notes):
            typer.echo(line, err=True)
    if output is Format.JSON:
        values = tables.as_json(comparison, means)
        typer.echo(json.dumps(values, indent=2, allow_nan=False))
    elif output is Format.CSV:
        typer.echo(tables.as_csv(comparison, means), nl=False)
    else:
        typer.echo(tables.as_text(comparison, found), nl=False)
        if references and not means:  # asked for, so their absence is said
            typer.echo(
                f"\nno gaps: {references} has no task whose test instances all have a reference"
            )
    if references and not references.is_dir():
        typer.echo(f"--references {references}: expected a folder, found none", err=True)
