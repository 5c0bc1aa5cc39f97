"""Grids: the runs of a sweep, read from TOML (docs/guides/sweep.md)."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import attrs
import cattrs

from lifelong_co.config.ablations import ABLATIONS
from lifelong_co.config.run_config import read_config
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.experiments.sweep.ranges import parse_orders, parse_ranges
from lifelong_co.experiments.sweep.rows import (
    Options,
    Variant,
    combinations,
    lists,
    named,
    with_axes,
)
from lifelong_co.storage.toml import drop_none, parse, structure, to_text
from lifelong_co.validators import printable

NEW = ("product", "settings")
"""Fields of a variant that are written only where they are given."""


@attrs.frozen(kw_only=True)
class Grid:
    """All combinations of the listed values, with one table for each problem.

    Parameters
    ----------
    name
        The title of the table; empty: made of the values that vary.
    methods, ablations, variants
        The rows: methods with default options, the paper's ablations of ``llr-bc``, and methods
        with other options. At least one.
    product
        Lists of values by option, e.g. ``{weighting = ["variance", "entropy"]}``: each method of
        ``methods`` has a row for every combination of the lists that it takes. A list under
        ``objective`` or ``schedule`` is for all of them, and for the ablations.
    problems, solvers, preset
        As in ``lifelong-co run``.
    orders
        Numbers of the paper's orders, e.g. ``1-3,5``, and names of the problems' orders. If this
        and ``tasks`` are empty, the order is that of the preset.
    tasks
        Task files; each gives one more order.
    seeds
        Numbers of at least 0, e.g. ``0-2``.
    device
        ``auto``, ``cpu`` or ``cuda``.
    tests, curve_every, augment, images, one_pass, precision, solver_options, objective,
    objective_options, schedule, tests_of
        As in ``lifelong-co run``; None: the value of the preset.
    settings
        Other settings of the runs, e.g. ``{learning_rate = 2e-4}`` (`settings.SETTINGS`).
    start_from
        Run folder whose parameters all runs start with; None: new parameters for each run.
    fresh
        Whether the runs may start with random parameters if the preset's solver needs a start.
    drift
        Whether each task except the first drifts from the one before it.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value is invalid, a name is listed twice, or there are no rows.
    """

    name: str = attrs.field(default="", validator=printable)
    methods: tuple[str, ...] = attrs.field(default=(), validator=named)
    ablations: tuple[str, ...] = attrs.field(default=(), validator=named)
    variants: tuple[Variant, ...] = ()
    product: Options = attrs.field(factory=dict, validator=lists)
    problems: tuple[str, ...] = attrs.field(default=("cvrp",), validator=named)
    solvers: tuple[str, ...] = attrs.field(default=("pomo",), validator=named)
    preset: str = "small"
    orders: str = ""
    tasks: tuple[str, ...] = attrs.field(default=(), validator=named)
    seeds: str = "0"
    device: str = "auto"
    tests: int | None = None
    curve_every: int | None = None
    augment: bool | None = None
    images: bool | None = None
    one_pass: bool | None = None
    precision: str | None = None
    objective: str | None = None
    objective_options: Options | None = None
    schedule: str | None = None
    tests_of: str | None = None
    solver_options: Options = attrs.field(factory=dict)
    settings: Options = attrs.field(factory=dict)
    start_from: str | None = attrs.field(default=None, validator=attrs.validators.optional(named))
    fresh: bool | None = None
    drift: bool | None = None

    def __attrs_post_init__(self) -> None:
        names = [variant.name for variant in self.rows]
        if not names:
            raise ConfigError("sweep: expected at least one of methods, ablations and variants")
        for listed in (names, self.problems, self.solvers, self.tasks):
            twice = sorted({name for name in listed if list(listed).count(name) > 1})
            if twice:
                raise ConfigError(f"sweep: expected each name once, got {twice[0]!r} twice")
        if not self.problems or not self.solvers:
            raise ConfigError("sweep: expected at least one problem and one solver")
        if self.device not in ("auto", "cpu", "cuda"):
            raise ConfigError(f"device: expected auto, cpu or cuda, got {self.device!r}")
        parse_ranges(self.seeds, "seeds")
        if self.orders:
            parse_orders(self.orders)

    @property
    def rows(self) -> tuple[Variant, ...]:
        """The rows of the table, from top to bottom."""
        for name in self.ablations:
            if name not in ABLATIONS["llr-bc"]:
                raise UnknownNameError("ablation", name, ABLATIONS["llr-bc"])
        variants = (
            *with_axes(self.methods, self.ablations, self.product),
            *self.variants,
        )
        return tuple(row for variant in variants for row in combinations(variant))


def read_grids(path: Path) -> tuple[Grid, ...]:
    """Read a sweep file; paths in it are relative to its folder.

    Raises
    ------
    ConfigError
        If the file is missing, or a key is unknown or has a wrong type; the message names the file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"sweep file {path}: cannot be read ({reason})") from error
    return grids_from_toml(text, str(path), path.parent)


def grids_from_toml(text: str, source: str, folder: Path) -> tuple[Grid, ...]:
    """Read grids; values above the ``[[grids]]`` tables are the defaults of every grid.

    Raises
    ------
    ConfigError
        If a key is unknown or has a wrong type; the message names ``source``.
    """
    data = parse(text, source)
    if isinstance(tasks := data.get("tasks"), list) and any(isinstance(t, dict) for t in tasks):
        raise ConfigError(
            f"{source}: expected a sweep file, got a task file; name it in a sweep file:"
            f" tasks = [{Path(source).name!r}]"
        )
    if "grid" in data:
        raise ConfigError(f"{source}: Unknown key 'grid'. Did you mean 'grids'?")
    tables = data.pop("grids", [{}])
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise ConfigError(f"{source}: expected [[grids]] tables, got grids = {tables!r}")
    grids = []
    for number, table in enumerate(tables, start=1):
        where = source if len(tables) == 1 else f"{source}, grid {number}"
        plain = _plain({**data, **table}, where)
        grid: Grid = structure(plain, Grid, where)
        paths = tuple(str((folder / task).resolve()) for task in grid.tasks)
        grid = attrs.evolve(grid, tasks=paths)
        if grid.start_from is not None:
            grid = _starting(grid, folder / grid.start_from, plain.keys())
        grids.append(grid)
    return tuple(grids)


def _starting(grid: Grid, start: Path, said: Collection[str]) -> Grid:
    """Return a grid that starts from a run, by default with the problem and solver of the run."""
    of = read_config(start)
    return attrs.evolve(
        grid,
        start_from=str(start.resolve()),
        problems=grid.problems if "problems" in said else (of.problem,),
        solvers=grid.solvers if "solvers" in said else (of.solver,),
    )


def _plain(data: Mapping[str, Any], source: str) -> Options:
    """Return a table with ranges as text, as in `Grid`; raise if a text is given for a list."""
    table = dict(data)
    for key in ("orders", "seeds"):
        value = table.get(key)
        if type(value) is int:
            table[key] = str(value)
        elif isinstance(value, list) and all(type(number) is int for number in value):
            table[key] = ",".join(map(str, value))
        elif not isinstance(value, str | None):
            raise ConfigError(f"{source}: {key}: expected numbers like '0-2', got {value!r}")
    for key in ("methods", "ablations", "variants", "problems", "solvers", "tasks"):
        if not isinstance(table.get(key, []), list):
            raise ConfigError(f"{source}: {key}: expected a list, got {table[key]!r}")
        if key in table and not table[key]:
            raise ConfigError(f"{source}: {key}: expected at least one, or no such key, got []")
    return table


def grids_to_toml(grids: tuple[Grid, ...]) -> str:
    """Return grids as TOML, without values that are None and lists that are empty."""
    tables = drop_none(cattrs.unstructure(list(grids)))
    for table in tables:
        # Earlier versions did not have these.
        for part, key in ((table, "product"), *((v, k) for v in table["variants"] for k in NEW)):
            if not part[key]:
                del part[key]
    kept = [{key: value for key, value in table.items() if value != []} for table in tables]
    return to_text({"grids": kept})
