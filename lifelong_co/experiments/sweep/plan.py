"""The plan of a sweep: the runs of its grids, each once, and the tables of their results."""

import hashlib
import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import registry
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.errors import LifelongError
from lifelong_co.experiments.sweep.grid import Grid
from lifelong_co.experiments.sweep.job import Job
from lifelong_co.experiments.sweep.ranges import parse_orders, parse_ranges
from lifelong_co.experiments.sweep.rows import Variant
from lifelong_co.runs.names import check_names
from lifelong_co.storage.files import short_name

AS_IN_RUN = (
    *("preset", "device", "tests", "curve_every", "augment", "images", "one_pass", "precision"),
    *("objective", "objective_options", "schedule", "tests_of"),
)
"""Settings that have the same name in a grid and in `resolve`."""
KINDS = ("solver", "method", "objective")
CHECKED = ("problem", "loggers", "tests", *KINDS, *(f"{kind}_options" for kind in KINDS))
"""Settings that `check_names` reads, besides the tasks."""


@attrs.frozen
class Row:
    """A row of a table: runs that differ only in order and seed."""

    label: str
    solver: str
    cells: tuple[tuple[str, int, str], ...]
    """Order, seed and name of the job, for each run."""


@attrs.frozen
class Block:
    """A table: rows with the same orders and seeds, on one problem."""

    title: str
    problem: str
    rows: tuple[Row, ...]


@attrs.frozen
class Plan:
    """All runs and tables of a sweep."""

    folder: Path
    jobs: dict[str, Job]
    """By name."""
    blocks: tuple[Block, ...]


def make_plan(grids: Iterable[Grid], folder: Path, *, check: bool = True) -> Plan:
    """Resolve every run of the grids; nothing is written.

    Parameters
    ----------
    grids
        The grids; their device must be ``cpu`` or ``cuda``.
    folder
        The sweep's folder.
    check
        Whether solvers and methods are made, so that a wrong option raises now. Without it the
        plan only serves to read runs; official code need not be there.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value or a name in a grid is invalid.
    """
    planner = _Planner(folder, check)
    blocks = tuple(block for grid in grids for block in planner.blocks(grid))
    return Plan(folder, planner.jobs, blocks)


class _Planner:
    def __init__(self, folder: Path, checks: bool) -> None:
        self.folder = folder
        self.checks = checks
        self.jobs: dict[str, Job] = {}
        self.names: dict[Hashable, str] = {}
        """Name of the job for each result."""
        self.checked: set[Hashable] = set()

    def blocks(self, grid: Grid) -> list[Block]:
        """Return a table for each problem, and for each set of tasks where orders differ in it."""
        found: dict[tuple[str, str], dict[tuple[str, str], list[Any]]] = {}
        for problem in grid.problems:
            for solver in grid.solvers:
                for row in grid.rows:
                    for order, seed, config, name in self.runs(grid, problem, solver, row):
                        table = found.setdefault((problem, tasks_tested(config)), {})
                        table.setdefault((solver, row.name), []).append((order, seed, name))
        return [
            Block(
                grid.name or f"{problem}, {grid.preset}",
                problem,
                tuple(Row(name, solver, tuple(cells)) for (solver, name), cells in rows.items()),
            )
            for (problem, _), rows in found.items()
        ]

    def runs(
        self, grid: Grid, problem: str, solver: str, row: Variant
    ) -> list[tuple[str, int, Config, str]]:
        """Return order, seed, configuration and name of each run of a row; errors name the row."""
        try:
            return [
                (order, seed, config, self.add(config, row, order))
                for order, seed, config in _configs(grid, problem, solver, row)
            ]
        except LifelongError as error:
            error.add_note(f"row {row.name!r}")
            raise

    def add(self, config: Config, row: Variant, order: str) -> str:
        """Return the name of a run's job; add the job unless there is one with the same result."""
        result = _hashable(attrs.asdict(_spelled_out(config), recurse=False))
        if result in self.names:
            return self.names[result]
        words = (config.problem, config.solver, row.name, config.preset, order)
        name = re.sub(r"[^\w.+=-]+", "_", f"{'-'.join(words)}-seed{config.seed}")
        name = short_name(name)
        if name in self.jobs:  # another run, from a row with the same name
            name = f"{name}-{_short(to_toml(config))}"
        if self.checks:
            self.check(config)
        self.jobs[name] = Job(name, self.folder / "runs" / name, config)
        self.names[result] = name
        return name

    def check(self, config: Config) -> None:
        """Raise on wrong names and options now, before anything runs."""
        parts = [getattr(config, name) for name in CHECKED]
        known = _hashable([*parts, config.tasks])
        if known in self.checked:
            return
        check_names(config)
        self.checked.add(known)


def _configs(grid: Grid, problem: str, solver: str, row: Variant) -> list[tuple[str, int, Config]]:
    named = parse_orders(grid.orders) if grid.orders else ()
    orders: dict[str, dict[str, Any]] = {
        f"order{name}" if name.isdecimal() else name: {"order": name} for name in named
    }
    for path in map(Path, grid.tasks):
        label = path.stem if path.stem not in orders else f"{path.stem}-{_short(str(path))}"
        orders[label] = {"tasks_file": path}
    return [
        (
            order,
            seed,
            resolve(
                solver=solver,
                problem=problem,
                method=row.method,
                seed=seed,
                solver_options=dict(grid.solver_options),
                method_options=dict(row.options),
                more_settings={**grid.settings, **row.settings},
                **row.in_run({name: getattr(grid, name) for name in AS_IN_RUN}),
                start_from=None if grid.start_from is None else Path(grid.start_from),
                fresh=bool(grid.fresh),
                drift=bool(grid.drift),
                **source,
            ),
        )
        for order, source in (orders or {"own": {}}).items()
        for seed in parse_ranges(grid.seeds, "seeds")
    ]


def _hashable(value: Any) -> Hashable:
    """Return a value that is equal to that of an equal value, and can be a key."""
    if isinstance(value, dict):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    assert isinstance(value, Hashable)
    return value


def tasks_tested(config: Config) -> str:
    """Return a text that is equal for runs tested on the same tasks, in any order."""
    tasks = sorted(repr((task.label, task.tested)) for task in config.tasks)
    images = config.augment and config.symmetries
    return repr((config.problem, config.tests, images, tasks))


def _spelled_out(config: Config) -> Config:
    """Return a configuration that is equal for all runs with the same result.

    It has all method options, no option of the objective that has its default, and only the name
    of a task file without its folder.
    """
    options = registry.all_options("method", config.method, config.method_options)
    own = registry.changed_options("objective", config.objective, config.objective_options)
    order = Path(config.order).name
    return attrs.evolve(config, method_options=options, objective_options=own, order=order)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
