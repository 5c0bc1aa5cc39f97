"""The options of ``lifelong-co sweep``."""

from pathlib import Path
from typing import Annotated

import typer

GRID = "The grid, when there is no FILE"
HOW = "How"

File = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE.toml]", help="What to run; see docs/guides/sweep.md."),
]
Methods = Annotated[
    str | None,
    typer.Option(metavar="NAME,…", help="Methods, e.g. llr-bc,fine-tuning.", rich_help_panel=GRID),
]
Ablations = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…", help="The paper's ablations of llr-bc, e.g. nEW,KLD.",
        rich_help_panel=GRID,
    ),
]  # fmt: skip
Problems = Annotated[
    str | None,
    typer.Option(metavar="NAME,…", help="cvrp (when not given), tsp.", rich_help_panel=GRID),
]
Solvers = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…", help="pomo (when not given), omni, invit, …", rich_help_panel=GRID
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(help="demo, small (when not given) or paper.", rich_help_panel=GRID),
]
Orders = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="The paper's task orders, e.g. 1-3,5.", rich_help_panel=GRID),
]
Tasks = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="A task sequence of your own, as an order; give it again for more.",
        rich_help_panel=GRID,
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="E.g. 0-2; 0 when not given.", rich_help_panel=GRID),
]
Device = Annotated[
    str | None,
    typer.Option(
        help="auto (when not given: GPUs if there are any), cpu or cuda.", rich_help_panel=GRID
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of the sweep; when not given one in runs/, the same for the same command.",
        rich_help_panel=HOW,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Continue the sweep in this folder.", rich_help_panel=HOW
    ),
]  # fmt: skip
Workers = Annotated[
    int | None,
    typer.Option(
        help="Runs at once; as many as there are cores, or GPUs, when not given.",
        min=1,
        rich_help_panel=HOW,
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        help="How often a run that died without getting any further is resumed.",
        min=0,
        rich_help_panel=HOW,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="List the runs, and do nothing.",
        rich_help_panel=HOW,
    ),
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Where: local (this machine), slurm, or submitit-local to try that without Slurm.",
        rich_help_panel=HOW,
    ),
]
EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="A parameter of submitit, e.g. slurm_partition=gpu; give it again for more.",
        rich_help_panel=HOW,
    ),
]
