"""``lifelong-co import-checkpoint``: make a run folder of an official checkpoint."""

from pathlib import Path
from typing import Annotated

import typer


def import_checkpoint(
    file: Annotated[
        Path,
        typer.Argument(
            help="What POMO, Omni-VRP, INViT or LLR-BC saved, or a bare state dict.",
            metavar="FILE",
        ),
    ],
    solver: Annotated[
        str, typer.Option(help="Neural solver that the parameters are of, e.g. pomo or omni.")
    ],
    out: Annotated[Path, typer.Option(help="Run folder to make, new or empty.", metavar="DIR")],
    problem: Annotated[str, typer.Option(help="Routing problem: tsp or cvrp.")] = "cvrp",
    preset: Annotated[
        str,
        typer.Option(
            help="Gives the solver's options and the tasks that `evaluate` tests: paper, small or"
            " demo."
        ),
    ] = "paper",
    solver_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Where the solver differs from the preset's, e.g. norm=batch; give it again for"
            " more.",
        ),
    ] = None,
) -> None:
    """Make a run folder of a checkpoint that an official codebase saved.

    Nothing in the file is executed. The folder serves `evaluate`, `solve --checkpoint` and
    `run --start-from`.
    """
    from lifelong_co.runs.import_official import import_checkpoint as make
    from lifelong_co_cli.options import assignments

    options = assignments(solver_option or [], "--solver-option")
    official = make(
        file, out, solver=solver, problem=problem, preset=preset, solver_options=options
    )
    taken = f"`{official.part}`" if official.part else "a bare state dict"
    count = sum(tensor.numel() for tensor in official.parameters.values())
    print(f"imported {taken} ({len(official.parameters)} tensors, {count:,} values): {out}")
