"""``lifelong-co plugins``: every component, who ships it, and what could not be loaded."""

from collections.abc import Sequence
from json import dumps
from typing import Annotated

import typer


def plugins(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List every solver, problem, weighting, … with its owner and version."""
    import warnings

    import attrs

    from lifelong_co import PluginWarning, registry

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # failures are listed below
        components, failures = registry.components(), registry.failures()
    clashes = registry.name_clashes()

    if json:
        listing = {
            "components": [attrs.asdict(component) for component in components],
            "failures": [attrs.asdict(failure) for failure in failures],
            "clashes": clashes,
        }
        typer.echo(dumps(listing, indent=2))
        return
    header = ("kind", "name", "owner", "version", "plugin")
    typer.echo(aligned([header, *(attrs.astuple(component) for component in components)]))
    for failure in failures:
        typer.echo(f"\nCould not load {failure}")
    for clash in clashes:
        typer.echo(f"\nName clash: {clash}")


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines of plain text with their columns flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
