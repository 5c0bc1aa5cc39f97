"""``lifelong-co tasks``: what can be learned, and what it looks like."""

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = """
  # For every task that does not say otherwise:
  epochs = 10
  batches = 40
  batch_size = 64

  [[tasks]]
  distribution = "U"
  size = 20

  [[tasks]]  # Instances of your own, found relative to this file.
  name = "my town"
  files = "town.npz"  # or a folder of .vrp or .tsp files
  epochs = 20
"""


def tasks(
    preset: Annotated[
        str | None, typer.Option(help="Show one preset only: demo, small or paper.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Only draw a sample instance of every distribution to this file.", metavar="PNG"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples that --plot draws.", min=0)] = 0,
) -> None:
    """Show presets, their tasks, and the paper's five task orders."""
    from lifelong_co.config import presets
    from lifelong_co.errors import ConfigError
    from lifelong_co.tasks.task import ORDERS

    chosen = [presets.preset(preset)] if preset else list(presets.PRESETS.values())
    if plot is not None:
        from lifelong_co.experiments.comparison.samples import plot_samples

        if plot.exists():
            raise ConfigError(f"{plot}: exists already; choose another name")
        plot_samples(plot, seed=seed)
        print(f"plot: {plot}")
        return
    for one in chosen:
        print(f"{one.name}: {one.summary}")
        print("  distribution  size  epochs  batches  batch size")
        for name, scale in one.scales.items():
            print(
                f"  {name:<12}  {scale.size:4}  {one.epochs:6}  {scale.batches:7}  "
                f"{scale.batch_size:10}"
            )
        print(f"  learned in the order {' '.join(one.order)} unless --order says otherwise\n")
    print("orders of the paper (--order)")
    for number, names in ORDERS.items():
        print(f"  {number}: {' '.join(names)}")
    print(f"\na sequence of your own (--tasks FILE):\n{EXAMPLE}", end="")
