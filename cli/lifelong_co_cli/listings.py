"""``lifelong-co tasks`` and ``lifelong-co plugins``: list what a user can choose from."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lifelong_co_cli.options import FLAG

if TYPE_CHECKING:
    from lifelong_co.registry.catalog import Component
    from lifelong_co.registry.described import Described

WIDTH = 100
"""The most characters of a line."""
EXAMPLE = """
  # Defaults of all tasks below:
  epochs = 10
  batches = 40
  batch_size = 64

  [[tasks]]
  distribution = "U"
  size = 20

  [[tasks]]  # Your instances; the path is relative to this file.
  name = "my town"
  files = "town.npz"  # or a folder of .vrp or .tsp files
  epochs = 20
"""


def tasks(
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show one preset, e.g. small.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="PNG", help="Only draw an instance of each distribution to this file."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of the instances of --plot (default: 0).", min=0),
    ] = None,
) -> None:
    """Show presets, their tasks, and the paper's task orders."""
    from lifelong_co import registry
    from lifelong_co.config import presets
    from lifelong_co.errors import ConfigError
    from lifelong_co.tasks.orders import ORDERS

    if seed is not None and plot is None:
        raise ConfigError("--seed: expected --plot PNG beside it")
    if preset is not None and plot is not None:
        raise ConfigError("--preset: expected no --plot beside it, which draws all distributions")
    chosen = [presets.preset(preset)] if preset else list(presets.PRESETS.values())
    if plot is not None:
        from lifelong_co.experiments.comparison.samples import plot_samples
        from lifelong_co.storage.files import refuse_unwritable_file
        from lifelong_co_cli.options import check_plot

        refuse_unwritable_file(plot)
        check_plot(plot)
        plot_samples(plot, seed=seed or 0)
        print(f"plot: {plot}")
        return
    for one in chosen:
        print(f"{one.name}: {one.summary}")
        print("  distribution  size  epochs  batches  batch size")
        for name, scale in one.scales.items():
            last = f" (the last {scale.last_batch_size})" if scale.last_batch_size else ""
            print(
                f"  {name:<12}  {scale.size:4}  {one.epochs:6}  {scale.batches:7}  "
                f"{scale.batch_size:10}{last}"
            )
        print(f"  learned in the order {' '.join(one.order)} unless --order is given\n")
    print("orders of the paper (--order)")
    for number, names in ORDERS.items():
        print(f"  {number}: {' '.join(names)}")
    for owner, _, name in (each.partition(":") for each in registry.names("order")):
        print(f"  {name}: for --problem {owner}")
    print(f"\nexample of a task file (--tasks FILE):\n{EXAMPLE}", end="")


def plugins(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Show the options of this component, e.g. llr-bc."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Print one JSON object.")
    ] = False,
) -> None:
    """List solvers, methods, weightings, … with their owners, or the options of one."""
    import attrs

    from lifelong_co import registry

    with silent_registry():
        found = registry.described(name) if name is not None else []
        components, failures = registry.components(), registry.failures()
    clashes = registry.name_clashes()

    if found and json:
        typer.echo(dumps([attrs.asdict(one) for one in found], indent=2))
        return
    if found:
        typer.echo("\n\n".join(map(options_of, found)))
        return
    if json:
        listing = {
            "components": [attrs.asdict(component) for component in components],
            "failures": [attrs.asdict(failure) for failure in failures],
            "clashes": clashes,
        }
        typer.echo(dumps(listing, indent=2))
        return
    rows = [(one.kind, one.name, f"{one.owner} {one.version}", one.plugin) for one in components]
    typer.echo(aligned([("kind", "name", "owner", "plugin"), *rows]))
    for failure in failures:
        typer.echo(f"\nCould not load {failure}")
    for clash in clashes:
        typer.echo(f"\nName clash: {clash}")


@contextmanager
def silent_registry() -> Iterator[None]:
    """Show no warning about a plugin that fails in the block; the caller lists the failures."""
    import warnings

    from lifelong_co import PluginWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        yield


def options_of(found: "Described") -> str:
    """Return what a component is and its options, as lines of at most 100 characters."""
    component = found.component
    lines = [f"{component.name} ({component.kind} of {component.owner}): {found.summary}".rstrip()]
    lines = textwrap.wrap(lines[0], WIDTH)
    for said in other_in_presets(component):
        lines += ["", *textwrap.wrap(said, WIDTH, initial_indent="  ", subsequent_indent="      ")]
    for option in found.options:
        default = f"(default: {option.default})" if option.default else "(required)"
        lines += ["", f"  {option.name} {default}"]
        lines += textwrap.wrap(
            option.text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6
        )
    return "\n".join(lines if found.options else [*lines, "", "  It has no options."])


def other_in_presets(component: "Component") -> Iterator[str]:
    """Yield a line for each preset in which a method has other options than its defaults."""
    from lifelong_co import registry
    from lifelong_co.config.presets import PRESETS

    if component.kind != "method":
        return
    for name, preset in PRESETS.items():
        given = preset.method_options.get(component.name, {})
        changed = registry.changed_options("method", component.name, given)
        if changed:
            said = ", ".join(f"{option} {value!r}" for option, value in changed.items())
            yield f"preset {name}: {said}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines of plain text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
