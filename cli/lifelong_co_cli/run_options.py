"""The options of ``lifelong-co run`` that no other command has."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import ADVANCED, FLAG

Method = Annotated[
    str,
    typer.Option(metavar="NAME", help="llr-bc (default), fine-tuning, ewc, …", show_default=False),
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Scale: small (default), demo, paper, paper-economy."),
]
Order = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Task order: 1 to 5 of the paper, or one of the problem's."),
]
Tasks = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="TOML file with a task sequence of yours; with --resume, further tasks for the run.",
    ),
]
Weighting = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Weights of experiences: variance, …"),
]
Divergence = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Distance to old behavior: rkl, kl, …"),
]
Alpha = Annotated[
    float | None,
    typer.Option(metavar="X", help="Weight of the consolidation loss, in the method's alpha_unit."),
]
BufferSize = Annotated[
    int | None, typer.Option(metavar="N", help="|B|: experiences that the buffer holds.")
]
ReplaySize = Annotated[
    int | None, typer.Option(metavar="N", help="|E|: experiences replayed at each step.")
]
Resume = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Continue the run in this folder.")
]

DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        metavar=FLAG,
        help="Only print the configuration, with every value, and estimate time and memory from a"
        " few steps of each size. The estimate goes to standard error.",
    ),
]

Ablation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Ablation of the paper: nEW, KLD, Ent, T2M, EE, Res or IB.",
        rich_help_panel=ADVANCED,
    ),
]
Behavior = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What llr-bc compares: probabilities (paper) or official (softmax of them).",
        rich_help_panel=ADVANCED,
    ),
]
ReplayRows = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Fraction of the instances replayed, above 0, at most 1.",
        rich_help_panel=ADVANCED,
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="An option of the method; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Loss of the solver: reinforce, preference, … (default: the preset's).",
        rich_help_panel=ADVANCED,
    ),
]
ObjectiveOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="An option of the objective, e.g. beta=0.05; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
Schedule = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Learning rate in each task: constant, cosine, linear, warmup-linear,"
        " official-tsp (default: the preset's).",
        rich_help_panel=ADVANCED,
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Another setting, e.g. learning_rate=2e-4; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
StartFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Start with the solver and parameters of this run.",
        rich_help_panel=ADVANCED,
    ),
]
BufferFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Start with the experiences of this run, of any solver.",
        rich_help_panel=ADVANCED,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh",
        metavar=FLAG,
        help="Start with random parameters, where the preset asks for --start-from.",
        rich_help_panel=ADVANCED,
    ),
]
Drift = Annotated[
    bool,
    typer.Option(
        "--drift",
        metavar=FLAG,
        help="Move gradually from each task to the next.",
        rich_help_panel=ADVANCED,
    ),
]
Images = Annotated[
    bool | None,
    typer.Option(
        "--images",
        metavar=FLAG,
        help="Train on the eight images of each instance.",
        rich_help_panel=ADVANCED,
    ),
]
OnePass = Annotated[
    bool | None,
    typer.Option(
        "--one-pass/--stepwise",
        metavar=FLAG,
        help="Learn a rollout in one pass (default on a GPU) or stepwise.",
        rich_help_panel=ADVANCED,
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Training steps in float32 (default) or bfloat16.",
        rich_help_panel=ADVANCED,
    ),
]
Logger = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Also log losses and costs to csv or tensorboard; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
Tests = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Test instances of each task.", min=1, rich_help_panel=ADVANCED
    ),
]  # fmt: skip
CurveEvery = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Epochs between two points of the forgetting curve.",
        min=1,
        rich_help_panel=ADVANCED,
    ),
]
Augment = Annotated[
    bool | None,
    typer.Option(
        "--augment",
        metavar=FLAG,
        help="Test also on the eight images of each instance.",
        rich_help_panel=ADVANCED,
    ),
]
