"""The options of ``lifelong-co run``."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import DEVICE

# The panels of `run --help`.
WHAT = "What to learn"
CONSOLIDATION = "Method llr-bc"
TESTING = "Testing"
WHERE = "Where"

Problem = Annotated[
    str | None,
    typer.Option(help="Routing problem: tsp or cvrp (when not given).", rich_help_panel=WHAT),
]
Solver = Annotated[
    str | None,
    typer.Option(
        help="Neural solver: pomo (when not given), omni, invit, official-pomo, official-omni,"
        " official-invit or a plugin's.",
        rich_help_panel=WHAT,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help="Lifelong-learning method: llr-bc, fine-tuning, ewc, …; docs/methods/ has all.",
        rich_help_panel=WHAT,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Scale of it all: demo, small or paper; `tasks` shows them. small when not given.",
        rich_help_panel=WHAT,
    ),
]
Order = Annotated[
    int | None,
    typer.Option(
        help="One of the paper's task orders, 1 to 5; `tasks` shows them.",
        rich_help_panel=WHAT,
    ),
]
Tasks = Annotated[
    Path | None,
    typer.Option(
        help="Task sequence of your own, a TOML file; `tasks` shows an example.",
        metavar="FILE",
        rich_help_panel=WHAT,
    ),
]
Drift = Annotated[
    bool | None,
    typer.Option(
        "--drift",
        help="Let each task's training batches move gradually from the distribution of the task"
        " before to its own.",
        rich_help_panel=WHAT,
    ),
]
Seed = Annotated[int, typer.Option(help="Fixes everything random.", min=0, rich_help_panel=WHAT)]
Ablation = Annotated[
    str | None,
    typer.Option(
        help="One of the paper's ablations: nEW, KLD, Ent, T2M, EE, Res or IB.",
        rich_help_panel=CONSOLIDATION,
    ),
]
Weighting = Annotated[
    str | None,
    typer.Option(
        help="What makes an experience weigh more: variance, entropy, top2-margin, uniform or"
        " a plugin's.",
        rich_help_panel=CONSOLIDATION,
    ),
]
Divergence = Annotated[
    str | None,
    typer.Option(
        help="From the buffered behavior to the present one: rkl (reverse KL), kl, mixture, js,"
        " squared or a plugin's.",
        rich_help_panel=CONSOLIDATION,
    ),
]
Behavior = Annotated[
    str | None,
    typer.Option(
        help="What is compared: probabilities (the paper's equation) or official (the softmax"
        " of them, as the paper's code has it).",
        rich_help_panel=CONSOLIDATION,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        help="Weight of the consolidation loss, at least 0.", rich_help_panel=CONSOLIDATION
    ),
]
BufferSize = Annotated[
    int | None,
    typer.Option(
        help="|B|: experiences (a decoding step of a batch) that the buffer holds.",
        rich_help_panel=CONSOLIDATION,
    ),
]
ReplaySize = Annotated[
    int | None,
    typer.Option(
        help="|E|: experiences replayed at every training step.", rich_help_panel=CONSOLIDATION
    ),
]
ReplayRows = Annotated[
    float | None,
    typer.Option(
        help="Fraction of their instances replayed, above 0 and at most 1.",
        rich_help_panel=CONSOLIDATION,
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Any option of the method; give it again for more.",
        rich_help_panel=CONSOLIDATION,
    ),
]
SolverOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Any option of the solver, e.g. embedding_dim=64; give it again for more.",
        rich_help_panel=WHAT,
    ),
]
StartFrom = Annotated[
    Path | None,
    typer.Option(
        help="Run whose solver and parameters to start with, e.g. from `pretrain`.",
        metavar="DIR",
        rich_help_panel=WHAT,
    ),
]
BufferFrom = Annotated[
    Path | None,
    typer.Option(
        help="Run, of any solver, whose experiences to start with.",
        metavar="DIR",
        rich_help_panel=CONSOLIDATION,
    ),
]
Images = Annotated[
    bool | None,
    typer.Option(
        "--images",
        help="Train on the eight symmetric images of each instance.",
        rich_help_panel=WHAT,
    ),
]
OnePass = Annotated[
    bool | None,
    typer.Option(
        "--one-pass/--stepwise",
        help="Learn each rollout in one pass, as a GPU likes it, or step by step; by device.",
        rich_help_panel=WHAT,
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        help="float32, or bfloat16 for the products of training steps.",
        rich_help_panel=WHAT,
    ),
]
Tests = Annotated[
    int | None,
    typer.Option(help="Test instances of each task.", min=1, rich_help_panel=TESTING),
]
CurveEvery = Annotated[
    int | None,
    typer.Option(
        help="Epochs between two points of the forgetting curve.",
        min=1,
        rich_help_panel=TESTING,
    ),
]
Augment = Annotated[
    bool | None,
    typer.Option(
        "--augment",
        help="Test on the eight symmetric images of each instance, too.",
        rich_help_panel=TESTING,
    ),
]
Device = Annotated[str, typer.Option(help=DEVICE, rich_help_panel=WHERE)]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Run folder, new or empty; when not given a new one in runs/.",
        metavar="DIR",
        rich_help_panel=WHERE,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        help="Continue the interrupted run in this folder; takes no other option.",
        metavar="DIR",
        rich_help_panel=WHERE,
    ),
]
