"""The options of ``lifelong-co sweep``."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import ADVANCED, FLAG

GRID = "Grid, without a FILE"

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE", help="TOML file of grids; the documentation has a page on sweeps."
    ),
]
Device = Annotated[
    str | None, typer.Option(metavar="NAME", help="auto (GPUs if any, default), cpu or cuda.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder (default: in runs/, named after FILE).",
    ),
]
Resume = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Continue the sweep in this folder.")
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", help="Runs at the same time (default: cores or GPUs).", min=1),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", metavar=FLAG, help="Only list the runs, and the time left if known."),
]

Methods = Annotated[
    str | None,
    typer.Option(metavar="NAME,…", help="Methods, e.g. llr-bc,fine-tuning.", rich_help_panel=GRID),
]
Weightings = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="Weightings, for methods that have one: a row for each.",
        rich_help_panel=GRID,
    ),
]
Divergences = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="Divergences, for methods that have one: a row for each.",
        rich_help_panel=GRID,
    ),
]
Objectives = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="Objectives, e.g. reinforce,preference: a row for each.",
        rich_help_panel=GRID,
    ),
]
Problems = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…", help="cvrp (default), tsp, …", rich_help_panel=GRID
    ),
]  # fmt: skip
Solvers = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="pomo (default), omni, invit, …",
        rich_help_panel=GRID,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Scale: small (default), demo, paper, paper-economy.",
        rich_help_panel=GRID,
    ),
]
Orders = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="Task orders, e.g. 1-3,5.", rich_help_panel=GRID),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="LIST", help="Seeds, e.g. 0-2 (default: 0).", rich_help_panel=GRID
    ),
]  # fmt: skip

Axis = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE,…",
        help="Values of any other option of the methods, e.g. alpha=0.2,0.6; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
Ablations = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="Ablations of llr-bc in the paper, e.g. nEW,KLD.",
        rich_help_panel=ADVANCED,
    ),
]
Tasks = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="TOML file with a task sequence, used as an order; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
Retries = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Restarts of a run that dies without progress (default: 2).",
        min=0,
        rich_help_panel=ADVANCED,
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="local (this machine, default), slurm, or submitit-local (to try submitit).",
        rich_help_panel=ADVANCED,
    ),
]
EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="A parameter of submitit, e.g. slurm_partition=gpu; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
