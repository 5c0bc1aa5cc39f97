"""A finished run, read from its folder: ``config.toml`` and ``costs.csv``."""

import json
import math
import os
import shlex
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.config.settings import ALL
from lifelong_co.errors import ConfigError, FileFormatError, naming
from lifelong_co.experiments.paired import Seed
from lifelong_co.runs import data_files, measured, provenance, starts
from lifelong_co.runs.costs import due, read_costs
from lifelong_co.runs.data_files import Digests
from lifelong_co.runs.folder import RunFolder, refuse_start
from lifelong_co.storage.appended import checked
from lifelong_co.tasks.task import Task


@attrs.frozen
class FinishedRun:
    """A finished run of ``k`` tasks."""

    path: Path
    tests: Mapping[tuple[int, int], Mapping[int, float]]
    """``(learning, epoch)`` to mean cost by tested task; tasks are counted from 1."""
    config: Config
    seconds: float | None
    """Time spent in training, from ``log.jsonl``; None if unknown."""
    made_by: tuple[str, ...]
    """`provenance.Maker.versions`, each once; several if the run was resumed by another version."""
    plugins: frozenset[tuple[str, str]] = frozenset()
    """Owner, and version with code, of the third-party plugins that made it."""
    data: Digests = attrs.field(factory=dict)
    """`data_files.read`."""
    processes: int = 1
    """Processes that learned it together."""
    starts: Mapping[str, str] = attrs.field(factory=dict)
    """`starts.read`."""

    @property
    def seed(self) -> Seed:
        """What decides its random numbers: runs that share it learn the same instances."""
        kind = self.config.device.partition(":")[0]
        together = f", {self.processes} processes" if self.processes > 1 else ""
        return self.config.seed, kind + together

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tasks in the order of arrival."""
        return tuple(task.label for task in self.config.tasks)

    @property
    def place(self) -> tuple[str, Seed]:
        """The order of its tasks and its seed: runs that share them are paired."""
        return repr(self.names), self.seed

    @property
    def epochs(self) -> tuple[int, ...]:
        """The epochs of each task in the order of arrival."""
        return tuple(task.epochs for task in self.config.tasks)

    @cached_property
    def rows(self) -> tuple[Mapping[int, float], ...]:
        """``rows[i][j]``: the cost on task ``j`` after learning task ``i``, if it was measured."""
        found = (self.tests[i, epochs] for i, epochs in enumerate(self.epochs, start=1))
        return tuple({j - 1: cost for j, cost in row.items()} for row in found)

    @cached_property
    def knows_all_tasks(self) -> bool:
        """Whether the method learns all tasks at once."""
        return registry.knows_all_tasks(self.config.method, self.config.method_options)

    @property
    def sparse(self) -> bool:
        """Whether some costs after learning a task were not measured."""
        return self.config.tests_after != ALL

    def cost(self, i: int, j: int) -> float:
        """Return a cell of the cost matrix; ``nan`` if it was not measured."""
        return self.rows[i].get(j, math.nan)

    @property
    def costs(self) -> tuple[tuple[float, ...], ...]:
        """The cost matrix ``[k, k]``, with ``nan`` for what was not measured."""
        k = range(len(self.rows))
        return tuple(tuple(self.cost(i, j) for j in k) for i in k)

    @property
    def least(self) -> dict[str, float]:
        """The lowest cost by task over every test of the run, those during a task included."""
        found = measured.least(self.tests.values())
        return {name: found[j] for j, name in enumerate(self.names, start=1)}

    @property
    def least_after(self) -> dict[str, float]:
        """The lowest cost by task over the tests after learning a task."""
        found = measured.least(self.rows)
        return {name: found[j] for j, name in enumerate(self.names)}

    @cached_property
    def restarts(self) -> bool:
        """Whether the method learns every task as if it were the first."""
        return registry.stored_method(self.config.method, self.config.method_options).restarts

    @property
    def final(self) -> dict[str, float]:
        """Mean cost by task after the last task; if the method restarts, after the task itself.

        A method that restarts measures how well a solver learns each task alone (paper, D.1).
        """
        rows, restarts = self.rows, self.restarts
        return {name: rows[i if restarts else -1][i] for i, name in enumerate(self.names)}


def load_run(path: Path | str) -> FinishedRun:
    """Read a finished run folder.

    Raises
    ------
    ConfigError
        If the folder is not a run folder, its configuration has errors, or its run is not
        finished.
    UnknownNameError
        If its method is not installed here.
    FileFormatError
        If ``costs.csv`` is damaged; the message names the file and how to repair it. If
        ``provenance.json`` or ``data.json`` has errors; the message names the file.
    """
    folder = Path(path)
    if not folder.is_dir():
        what = "a file" if folder.exists() else "nothing"
        raise ConfigError(f"{folder}: expected a run folder, found {what}")
    if os.fsencode(folder).decode(errors="replace") != str(folder):
        raise ConfigError(f"{str(folder)!r}: expected a path in UTF-8; rename the folder")
    config = RunFolder(folder).config()
    refuse_start(config, folder)
    with naming(folder / "config.toml"):
        registry.stored_method(config.method, config.method_options)
    names = [task.label for task in config.tasks]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"{folder}: expected tasks with different names, got {names}")
    costs = folder / "costs.csv"
    again = f"lifelong-co run --resume {shlex.quote(str(folder))}"
    try:
        tests = _tests(costs, names) if costs.exists() else {}
    except FileFormatError as error:
        raise FileFormatError(f"{error}; repair it with: {again}") from error
    for i, task in enumerate(config.tasks):
        made, wanted = tests.get((i + 1, task.epochs), {}), [j + 1 for j in due(config, i)]
        if not made.keys() >= set(wanted):
            raise ConfigError(
                f"{folder}: the run is not finished: {i} of {len(names)} tasks are learned and"
                f" tested; continue it with: {again}"
            )
        # A task that was the last one before the run got further tasks was tested on more.
        tests[i + 1, task.epochs] = {j: made[j] for j in wanted}
    makers = [entry.maker for entry in provenance.read(folder)]
    made_by = tuple(dict.fromkeys(maker.versions for maker in makers))
    plugins = frozenset(pair for maker in makers for pair in maker.plugins.items())
    data = data_files.read(folder)
    seconds = _seconds(folder / "log.jsonl")
    processes = max((maker.processes for maker in makers), default=1)
    began = starts.read(folder)
    return FinishedRun(folder, tests, config, seconds, made_by, plugins, data, processes, began)


def in_one_place(runs: Iterable[FinishedRun]) -> list[FinishedRun]:
    """Return the runs with one path for files of equal content: the first one that is there.

    So runs on files that have moved are runs of one configuration, and runs that have learned other
    content of one path are not: its digest is added. The content is known by its digest; a run of
    an earlier version, which has none, keeps its paths.
    """
    runs = list(runs)
    tasks = ((run, task) for run in runs for task in run.config.tasks)
    found = [
        (content, getattr(task, field))
        for run, task in tasks
        for field, content in _contents(run, task).items()
    ]
    places: dict[object, str] = {}
    for content, path in sorted(found, key=lambda each: _gone(each[1])):
        places.setdefault(content, path)

    owners: dict[str, object] = {}

    def placed(run: FinishedRun, task: Task) -> Task:
        files: dict[str, Any] = {}
        for field, content in _contents(run, task).items():
            files[field] = place = places[content]
            other = owners.setdefault(place, content) != content
            if other and field == "files" and task.test_files:
                files[field] = f"{place} (SHA-256 {str(content)[:8]})"
        return attrs.evolve(task, **files)

    def moved(run: FinishedRun) -> FinishedRun:
        tasks = tuple(placed(run, task) for task in run.config.tasks)
        return attrs.evolve(run, config=attrs.evolve(run.config, tasks=tasks))

    return [moved(run) if run.data else run for run in runs]


def _gone(path: str) -> bool:
    """Return whether there is nothing that this user can see."""
    try:
        return not Path(path).exists()
    except OSError:  # a folder of another user, or a name that is too long
        return True


def _contents(run: FinishedRun, task: Task) -> dict[str, object]:
    """Return the digest of each file of a task, by the task's field."""
    known = run.data.get(task.label, {})
    return {f: known[f] for f in data_files.FIELDS if f in known and getattr(task, f)}


def final_note(runs: Iterable[FinishedRun]) -> str:
    """Name each method whose `FinishedRun.final` is not measured after the last task."""
    names = dict.fromkeys(run.config.method for run in runs if run.restarts)
    return " ".join(f"{name} is measured on each task just after learning it." for name in names)


def _tests(file: Path, names: list[str]) -> dict[tuple[int, int], dict[int, float]]:
    tests: dict[tuple[int, int], dict[int, float]] = {}
    for cost in read_costs(file, names):
        tests.setdefault((cost.learning, cost.epoch), {})[cost.tested] = cost.cost
    return tests


def _seconds(file: Path) -> float | None:
    """Return the sum of the times of the epochs; None if the log cannot be read."""
    try:
        lines = checked(file).splitlines()
        total = math.fsum(float(json.loads(line)["seconds"]) for line in lines)
    # A FileFormatError is a ValueError.
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return total if lines and math.isfinite(total) else None
