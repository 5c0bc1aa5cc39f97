"""The options of ``lifelong-co sweep``."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import ADVANCED, FLAG

GRID = "Grid, without a FILE"

File = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="TOML file of grids, see docs/sweep.md.")
]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="auto (GPUs if there are any), cpu or cuda.",
                 show_default="auto"),
]  # fmt: skip
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of the sweep.",
        show_default="in runs, the same for the same grid",
    ),
]
Resume = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Continue the sweep in this folder.")
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Runs at the same time.", min=1, show_default="cores or GPUs here"
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", metavar=FLAG, help="Only list the runs and estimate their time."),
]

Methods = Annotated[
    str | None,
    typer.Option(metavar="NAME,…", help="Methods, e.g. llr-bc,fine-tuning.", rich_help_panel=GRID),
]
Problems = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…", help="tsp and cvrp.", show_default="cvrp", rich_help_panel=GRID
    ),
]  # fmt: skip
Solvers = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="Neural solvers, e.g. pomo,omni.",
        show_default="pomo",
        rich_help_panel=GRID,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Scale: demo, small or paper.",
        show_default="small",
        rich_help_panel=GRID,
    ),
]
Orders = Annotated[
    str | None,
    typer.Option(
        metavar="LIST", help="Task orders of the paper, e.g. 1-3,5.", rich_help_panel=GRID
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="LIST", help="Seeds, e.g. 0-2.", show_default="0", rich_help_panel=GRID
    ),
]  # fmt: skip

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
    int,
    typer.Option(
        metavar="N",
        help="Tries to resume a run that dies without progress.",
        min=0,
        rich_help_panel=ADVANCED,
    ),
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="local (this machine), slurm, or submitit-local (a test without Slurm).",
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
