"""The options of ``lifelong-co reference``."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.options import ADVANCED, FLAG

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE",
        help="Instances: .npz, .vrp, .tsp, .atsp or Solomon .txt files, or folders of these"
        " (.npz in a folder only with --scaled).",
    ),
]
Problem = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Routing problem (default: cvrp, or that of FILE)."),
]
Distribution = Annotated[
    str | None, typer.Option(metavar="NAME", help="Draw instances of U, R, E, G, C, GM, …")
]
Size = Annotated[
    int | None,
    typer.Option(metavar="N", help="Nodes of the instances drawn (default: 20).", min=2),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="Seed of the draw (default: 0, that of test instances).", min=0),
]
Testset = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Test set of the paper, GM, … or all; repeatable."),
]
Run = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Take the test instances of this run.")
]
Count = Annotated[
    int | None,
    typer.Option(metavar="N", help="Number of instances (default: all, or 10 drawn).", min=1),
]
References = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of the results (default: references).")
]
Check = Annotated[
    bool, typer.Option("--check", metavar=FLAG, help="Solve nothing; check stored references.")
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", help="Instances at the same time (default: cores).", min=1),
]
Scaled = Annotated[
    bool,
    typer.Option(
        "--scaled",
        metavar=FLAG,
        help="Scale files to the unit square, and do not round .vrp and .tsp, as tasks do.",
        rich_help_panel=ADVANCED,
    ),
]
Stored = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of published references (cvrp-GM100.npz, … or a checkout of LLR-BC); default:"
        " --references, LLR-BC, ../shared/official/testsets.",
        rich_help_panel=ADVANCED,
    ),
]
Iterations = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Iterations without gain that end a search of PyVRP.",
        min=1,
        rich_help_panel=ADVANCED,
    ),
]
Restarts = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Searches of PyVRP; the best result counts.",
        min=1,
        rich_help_panel=ADVANCED,
    ),
]
Seconds = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Seconds that a solver may take for an instance.",
        min=1,
        rich_help_panel=ADVANCED,
    ),
]
Prove = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Prove optimality for TSPs of at most N nodes.",
        min=0,
        rich_help_panel=ADVANCED,
    ),
]
Again = Annotated[
    bool,
    typer.Option(
        "--again",
        metavar=FLAG,
        help="Solve unproven instances again; the better result is kept.",
        rich_help_panel=ADVANCED,
    ),
]
