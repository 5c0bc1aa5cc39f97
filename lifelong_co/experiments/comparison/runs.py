"""A finished run, read from its folder: ``config.toml`` and ``costs.csv``."""

import csv
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError, FileFormatError, LifelongError
from lifelong_co.runs import provenance
from lifelong_co.runs.folder import HEADER, RunFolder, refuse_start


@attrs.frozen
class Run:
    """A finished run of ``k`` tasks."""

    path: Path
    tests: Mapping[tuple[int, int], Mapping[int, float]]
    """``(learning, epoch)`` to mean cost by tested task; tasks are counted from 1."""
    config: Config
    seconds: float | None
    """Time spent in training, from ``log.jsonl``; None if unknown."""
    made_by: tuple[str, ...]
    """`provenance.Maker.versions`, each once; several if the run was resumed by another version."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tasks in the order of arrival."""
        return tuple(task.label for task in self.config.tasks)

    @property
    def epochs(self) -> tuple[int, ...]:
        """The epochs of each task in the order of arrival."""
        return tuple(task.epochs for task in self.config.tasks)

    @property
    def costs(self) -> tuple[tuple[float, ...], ...]:
        """The cost matrix ``[k, k]``."""
        rows = [self.tests[i, epochs] for i, epochs in enumerate(self.epochs, start=1)]
        return tuple(tuple(row[j] for j in range(1, len(rows) + 1)) for row in rows)

    @property
    def least(self) -> dict[str, float]:
        """The lowest cost by task over every test of the run, those during a task included."""
        return {
            name: min(costs[j] for costs in self.tests.values() if j in costs)
            for j, name in enumerate(self.names, start=1)
        }

    @property
    def restarts(self) -> bool:
        """Whether the method learns every task as if it were the first."""
        try:
            return registry.method(self.config.method, **self.config.method_options).restarts
        except LifelongError:  # the method of a plugin that is not installed here
            return False

    @property
    def final(self) -> dict[str, float]:
        """Mean cost by task after the last task; if the method restarts, after the task itself.

        A method that restarts measures how well a solver learns each task alone (paper, D.1).
        """
        costs, restarts = self.costs, self.restarts
        return {name: costs[i if restarts else -1][i] for i, name in enumerate(self.names)}


def load_run(path: Path | str) -> Run:
    """Read a finished run folder.

    Raises
    ------
    ConfigError
        If the folder is not a run folder, its configuration has errors, or its run is not
        finished.
    FileFormatError
        If ``costs.csv`` or ``provenance.json`` has errors; the message names the line or the file.
    """
    folder = Path(path)
    if not folder.is_dir():
        what = "a file" if folder.exists() else "nothing"
        raise ConfigError(f"{folder}: expected a run folder, found {what}")
    if os.fsencode(folder).decode(errors="replace") != str(folder):
        raise ConfigError(f"{str(folder)!r}: expected a path in UTF-8; rename the folder")
    config = RunFolder(folder).config()
    refuse_start(config, folder)
    names = [task.label for task in config.tasks]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"{folder}: expected tasks with different names, got {names}")
    costs = folder / "costs.csv"
    tests = _tests(costs, names) if costs.exists() else {}
    for i, task in enumerate(config.tasks, start=1):
        if len(tests.get((i, task.epochs), ())) != len(names):
            raise ConfigError(
                f"{folder}: the run is not finished: {i - 1} of {len(names)} tasks are learned and"
                f" tested; continue it with: lifelong-co run --resume {folder}"
            )
    made_by = tuple(dict.fromkeys(entry.maker.versions for entry in provenance.read(folder)))
    return Run(folder, tests, config, _seconds(folder / "log.jsonl"), made_by)


def final_note(runs: Iterable[Run]) -> str:
    """Return a sentence for each method whose `Run.final` is not measured after the last task."""
    names = dict.fromkeys(run.config.method for run in runs if run.restarts)
    return " ".join(f"{name} is measured on each task just after learning it." for name in names)


def _tests(file: Path, names: list[str]) -> dict[tuple[int, int], dict[int, float]]:
    tests: dict[tuple[int, int], dict[int, float]] = {}
    for line, (learning, epoch, tested, name, cost) in _rows(file):
        where = f"{file}, line {line}"
        if not (1 <= learning <= len(names) and 1 <= tested <= len(names)):
            raise FileFormatError(
                f"{where}: expected tasks from 1 to {len(names)}, got learning {learning} and"
                f" tested {tested}"
            )
        if name != names[tested - 1]:
            raise FileFormatError(
                f"{where}: task {tested} is {names[tested - 1]!r} in config.toml, got {name!r}"
            )
        row = tests.setdefault((learning, epoch), {})
        if tested in row:
            raise FileFormatError(f"{where}: this test is in the file already")
        row[tested] = cost
    return tests


def _rows(file: Path) -> Iterator[tuple[int, tuple[int, int, int, str, float]]]:
    # Bytes that are not UTF-8 become a character that fails the checks below.
    with file.open(encoding="utf-8", errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        header = next(reader, [])
        if tuple(header) != HEADER:
            raise FileFormatError(
                f"{file}, line 1: expected the header {','.join(HEADER)}, got {','.join(header)}"
            )
        for row in reader:
            try:
                learning, epoch, tested, name, cost = row
                values = (int(learning), int(epoch), int(tested), name, float(cost))
            except ValueError:
                values = (0, 0, 0, "", math.nan)
            if not (math.isfinite(values[4]) and values[4] > 0):
                raise FileFormatError(
                    f"{file}, line {reader.line_num}: expected learning, epoch, tested, name and a"
                    f" positive cost, got {','.join(row)!r}"
                )
            yield reader.line_num, values


def _seconds(file: Path) -> float | None:
    """Return the sum of the times of the epochs; None if the log cannot be read."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        total = math.fsum(float(json.loads(line)["seconds"]) for line in lines)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return total if lines and math.isfinite(total) else None
