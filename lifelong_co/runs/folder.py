"""The folder of a run: its configuration, costs, metrics, log and checkpoints."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import metrics, registry
from lifelong_co.config.run_config import Config, read_config, to_toml
from lifelong_co.errors import IMPORTED, NEW_FOLDER, PRETRAINED, RUN, ConfigError, FolderError
from lifelong_co.storage import lock
from lifelong_co.storage.files import TEMPORARY, write_whole

STARTS = {
    "reptile": PRETRAINED,
    "fomaml": PRETRAINED,
    "maml": PRETRAINED,
    "import-checkpoint": IMPORTED,
}
"""``method`` of a configuration to the kind of folder, for folders that are not lifelong runs."""

HEADER = ("learning", "epoch", "tested", "name", "cost")


@attrs.frozen
class Cost:
    """One test on one task, during or after learning a task; a row of ``costs.csv``."""

    learning: int
    """Number of the task that is learned, from 1."""
    epoch: int
    """Finished epochs of the task that is learned."""
    tested: int
    """Number of the task that is tested, from 1."""
    name: str
    """Name of the task that is tested."""
    cost: float
    """Mean cost over the test instances."""


@attrs.frozen
class RunFolder:
    """Reads and writes the files of one run; each file is written whole or not at all."""

    path: Path

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.path / "checkpoints"

    def after_task(self, learned: int) -> Path:
        """Return the folder of the parameters after learning the first ``learned`` tasks."""
        return self.checkpoints / f"after-task-{learned}"

    def learned(self) -> int:
        """Return how many tasks have been learned to their end."""
        number = 0
        while self.after_task(number + 1).is_dir():
            number += 1
        return number

    def create(self, config: Config) -> None:
        """Create the folder with ``config.toml``.

        Raises
        ------
        FolderError
            If the path is a file or a folder that is not empty; nothing is overwritten.
        ConfigError
            If the folder cannot be written.
        """
        self.check_new()
        text = to_toml(config)
        try:
            # The configuration first: a folder that holds only this file can be resumed.
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(self.path / "config.toml", text)
            self.checkpoints.mkdir(exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"run folder {self.path}: cannot be written ({error.strerror or error})"
            ) from error

    def check_new(self) -> None:
        """Raise an error unless a run can be created here.

        A lock and temporary files do not count: a process that was killed early leaves them.

        Raises
        ------
        FolderError
            If the path is a file or a folder that is not empty.
        """
        if self.path.is_dir():
            names = [path.name for path in self.path.iterdir()]
            if all(name == lock.FILE or TEMPORARY.fullmatch(name) for name in names):
                return
        if os.path.lexists(self.path):
            raise FolderError(self.path, NEW_FOLDER, self._holds())

    def _holds(self) -> str:
        try:
            return STARTS.get(self.config().method, RUN)
        except ConfigError:
            return "something else"

    def config(self) -> Config:
        """Read the resolved configuration; see `config.read_config`."""
        return read_config(self.path)

    def write_costs(self, costs: list[Cost], config: Config) -> None:
        """Write ``costs.csv``, and ``metrics.json`` for the tasks learned so far."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows((*attrs.astuple(row)[:-1], repr(row.cost)) for row in costs)
        write_whole(self.path / "costs.csv", text.getvalue())
        matrix = cost_matrix(costs, config)
        if matrix:
            write_whole(self.path / "metrics.json", json.dumps(summary(matrix, config), indent=1))

    def write_log(self, entries: list[dict[str, Any]]) -> None:
        """Write ``log.jsonl``: one line per epoch."""
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        write_whole(self.path / "log.jsonl", lines)


def cost_matrix(costs: list[Cost], config: Config) -> list[list[float]]:
    """Return ``d[i][j]``, one row per learned task: the costs after learning ``i + 1`` tasks."""
    cells = {
        (row.learning, row.tested): row.cost
        for row in costs
        if row.epoch == config.tasks[row.learning - 1].epochs
    }
    k = len(config.tasks)
    learned = [i for i in range(1, k + 1) if all((i, j) in cells for j in range(1, k + 1))]
    return [[cells[i, j] for j in range(1, k + 1)] for i in learned]


def summary(matrix: list[list[float]], config: Config) -> dict[str, Any]:
    """Return the content of ``metrics.json``; the metrics are over the tasks learned so far.

    Here ``d*`` is the lowest cost of this run; `compare` uses the lowest cost of all compared runs.
    """
    k = len(matrix)
    best = [min(column) for column in zip(*matrix, strict=True)]
    values = metrics.summarize([row[:k] for row in matrix], best[:k])
    return {
        "tasks": [task.label for task in config.tasks],
        "costs": matrix,
        "best": best,
        "metrics": metrics.json_values(
            metrics.meaningful(values, knows_all_tasks=registry.knows_all_tasks(config.method))
        ),
    }


def refuse_start(config: Config, folder: Path) -> None:
    """Raise an error if a folder is not a lifelong run but a pretraining or an import.

    Raises
    ------
    FolderError
        If the folder holds a pretraining or an imported checkpoint.
    """
    if config.method in STARTS:
        raise FolderError(folder, RUN, STARTS[config.method])
