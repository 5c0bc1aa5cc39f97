"""Options that several commands share, and what their values mean."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lifelong_co.experiments.references.places import Places

ADVANCED = "Advanced"
"""The panel of ``--help`` with the options that few users need."""

FLAG = ""
"""The metavar of an option that takes no value."""

Problem = Annotated[
    str | None, typer.Option(metavar="NAME", help="Routing problem: cvrp (default), tsp, …")
]
Solver = Annotated[
    str | None, typer.Option(metavar="NAME", help="Solver: pomo (default), omni, invit, …")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of all random numbers.", min=0)]
Device = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="auto (GPU if any, default), cpu, cuda:1, …", show_default=False
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Run folder (default: a new one in runs/)."),
]
References = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of near-optimal costs, for gaps (default: references).",
    ),
]
After = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Take the solver after N tasks (default: the last one).",
        rich_help_panel=ADVANCED,
    ),
]
TestsOf = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="CVRP R: test on the demands of the generator (default) or of the published file.",
        rich_help_panel=ADVANCED,
    ),
]
SolverOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="An option of the solver, e.g. embedding_dim=64; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", metavar=FLAG, help="Replace files that exist.")
]
Published = Annotated[
    bool,
    typer.Option(
        "--published",
        metavar=FLAG,
        help="Compute as the script of the paper's tables, not as the paper's text: AF and AMF"
        " without the last task, d* over every test, population deviation, and the gap as the mean"
        " over the instances (which needs checkpoints).",
    ),
]


def assignments(pairs: Sequence[str], flag: str) -> dict[str, Any]:
    """Parse repeated ``NAME=VALUE`` with values as in TOML; a bare word is a string.

    Raises
    ------
    ConfigError
        If an item has no ``=`` or no name, or a name has two values.
    """
    from lifelong_co.errors import ConfigError

    parsed: dict[str, Any] = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator or not name:
            raise ConfigError(f"{flag}: expected NAME=VALUE, got {pair!r}")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):  # also for a number of thousands of digits
            value = text
        if parsed.setdefault(name, value) != value:
            raise ConfigError(f"{name}: expected one value, got {parsed[name]} and {value}")
    return parsed


def refuse_other_options(context: typer.Context, beside: Sequence[str] = ("resume",)) -> None:
    """Refuse options other than these, because the configuration of a resumed run decides them.

    Raises
    ------
    BadParameter
        If another option is given. The message names the options.
    """
    given = [
        f"--{name.replace('_', '-')}"
        for name in context.params
        if name not in beside and "COMMANDLINE" in str(context.get_parameter_source(name))
    ]
    if given:
        raise typer.BadParameter(
            f"--resume takes the configuration of the run; leave out {', '.join(given)}"
        )


def check_plot(path: Path) -> None:
    """Refuse a picture that cannot be drawn: of another form than PNG, or without matplotlib.

    Raises
    ------
    ConfigError
        If it cannot be drawn.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.experiments.comparison import figures

    if path.suffix.lower() != ".png":
        raise ConfigError(f"--plot: expected a name that ends in .png, got {path}")
    if not figures.available():
        raise ConfigError(f"--plot: expected matplotlib, which is not installed; {figures.INSTALL}")


def check_folder(path: Path | None, flag: str) -> None:
    """Refuse a folder that the user gives and that does not exist; None is not given.

    Raises
    ------
    ConfigError
        If it is no folder.
    """
    from lifelong_co.errors import ConfigError

    if path is not None and not path.is_dir():
        raise ConfigError(f"{flag}: expected a folder, got {path}, which is none")


def places(references: Path | None = None) -> "Places":
    """Return where to look for references: in a folder of the user, then among published ones.

    Parameters
    ----------
    references
        The folder of the user; ``references`` in the working directory when None.
    """
    from lifelong_co_adapters.official.costs import published_costs

    from lifelong_co.experiments.references.cache import FOLDER
    from lifelong_co.experiments.references.places import Places

    check_folder(references, "--references")
    return Places(references or FOLDER, published_costs())
