"""The options of ``lifelong-co run`` that no other command has."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import ADVANCED, FLAG

Problem = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Routing problem: tsp or cvrp.", show_default="cvrp"),
]
Solver = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Neural solver: pomo, omni, invit, …", show_default="pomo"),
]
Method = Annotated[
    str, typer.Option(metavar="NAME", help="Method: llr-bc, fine-tuning, ewc, …")
]  # fmt: skip
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Scale: demo, small or paper.", show_default="small"),
]
Order = Annotated[
    int | None, typer.Option(metavar="N", help="Task order of the paper, 1 to 5.")
]  # fmt: skip
Tasks = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TOML file with a task sequence of yours.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of all random numbers.", min=0)]
Weighting = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Weights of experiences: variance, entropy, …"),
]
Divergence = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Distance to the buffered behavior: rkl, kl, …"),
]
Alpha = Annotated[
    float | None, typer.Option(metavar="X", help="Weight of the consolidation loss, at least 0.")
]
BufferSize = Annotated[
    int | None, typer.Option(metavar="N", help="|B|: experiences that the buffer holds.")
]
ReplaySize = Annotated[
    int | None, typer.Option(metavar="N", help="|E|: experiences replayed at each step.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Run folder, new or empty.", show_default="a new one in runs"),
]
Resume = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Continue the interrupted run in this folder.")
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
        help="What llr-bc compares: probabilities (the paper's equation) or official (their"
        " softmax, as in the paper's code).",
        rich_help_panel=ADVANCED,
    ),
]
ReplayRows = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Fraction of the instances of an experience replayed, above 0 and at most 1.",
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
Drift = Annotated[
    bool | None,
    typer.Option(
        "--drift",
        metavar=FLAG,
        help="Move gradually from the distribution of each task to that of the next.",
        rich_help_panel=ADVANCED,
    ),
]
Images = Annotated[
    bool | None,
    typer.Option(
        "--images",
        metavar=FLAG,
        help="Train on the eight symmetric images of each instance.",
        rich_help_panel=ADVANCED,
    ),
]
OnePass = Annotated[
    bool | None,
    typer.Option(
        "--one-pass/--stepwise",
        metavar=FLAG,
        help="Learn a rollout in one pass or step by step.",
        show_default="one pass on a GPU",
        rich_help_panel=ADVANCED,
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Number format of training steps: float32 or bfloat16.",
        show_default="float32",
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
        help="Test also on the eight symmetric images of each instance.",
        rich_help_panel=ADVANCED,
    ),
]
