"""``lifelong-co import-checkpoint``: make a run folder of an official checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import SolverOption


def import_checkpoint(
    file: Annotated[
        Path,
        typer.Argument(
            help="Checkpoint of POMO, Omni-VRP, INViT or LLR-BC, or a state dict, also of ours.",
            metavar="FILE",
        ),
    ],
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="Neural solver: pomo, omni, invit, …")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Run folder to make, new or empty.")],
    problem: Annotated[
        str, typer.Option(metavar="NAME", help="Routing problem: tsp or cvrp.")
    ] = "cvrp",
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Source of solver options and test tasks: paper, paper-economy, small, demo.",
        ),
    ] = "paper",
    solver_option: SolverOption = None,
) -> None:
    """Make a run folder from a checkpoint of official code.

    No code in the file is executed. Use the folder with `evaluate`,
    `solve --checkpoint` and `run --start-from`.
    """
    from lifelong_co.runs.imports import import_checkpoint as make
    from lifelong_co_cli.options import assignments

    options = assignments(solver_option or [], "--solver-option")
    official = make(
        file, out, solver=solver, problem=problem, preset=preset, solver_options=options
    )
    taken = f"`{official.part}`" if official.part else "a bare state dict"
    count = sum(tensor.numel() for tensor in official.parameters.values())
    print(f"imported {taken} ({len(official.parameters)} tensors, {count:,} values): {out}")
