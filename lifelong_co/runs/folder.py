"""The folder of a run: its configuration, costs, metrics, log and checkpoints."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import metrics, registry
from lifelong_co.config.run_config import Config, read_config, to_toml
from lifelong_co.errors import IMPORTED, NEW_FOLDER, PRETRAINED, RUN, ConfigError, FolderError
from lifelong_co.storage.files import write_whole

STARTS = {
    "reptile": PRETRAINED,
    "fomaml": PRETRAINED,
    "maml": PRETRAINED,
    "import-checkpoint": IMPORTED,
}
"""What a folder that is no lifelong run holds, by the ``method`` of its configuration."""

HEADER = ("learning", "epoch", "tested", "name", "cost")


@attrs.frozen
class Cost:
    """One test: while or after learning a task, on a task."""

    learning: int
    """1-based number of the task being learned."""
    epoch: int
    """Epochs of it that are finished."""
    tested: int
    """1-based number of the task tested."""
    name: str
    """The tested task's name."""
    cost: float
    """Mean cost over its test instances."""


@attrs.frozen
class RunFolder:
    """Reads and writes the files of one run; each is written whole or not at all."""

    path: Path

    @property
    def checkpoints(self) -> Path:
        """Where the checkpoints lie."""
        return self.path / "checkpoints"

    def after_task(self, learned: int) -> Path:
        """Where the parameters after learning so many tasks are kept."""
        return self.checkpoints / f"after-task-{learned}"

    def create(self, config: Config) -> None:
        """Make the folder.

        Raises
        ------
        FolderError
            If something is there already, as nothing is overwritten.
        ConfigError
            If it cannot be written.
        """
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise FolderError(self.path, NEW_FOLDER, self._holds())
        try:
            # The configuration first: with it, and nothing else yet, the run can be resumed.
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(self.path / "config.toml", to_toml(config))
            self.checkpoints.mkdir(exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"run folder {self.path}: cannot be written ({error.strerror or error})"
            ) from error

    def _holds(self) -> str:
        try:
            return STARTS.get(self.config().method, RUN)
        except ConfigError:
            return "something else"

    def config(self) -> Config:
        """Read the resolved configuration; see `config.read_config`."""
        return read_config(self.path)

    def write_costs(self, costs: list[Cost], config: Config) -> None:
        """Write ``costs.csv``, and ``metrics.json`` of the tasks learned so far."""
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
    """Return ``d[i][j]``: row ``i`` after learning task ``i + 1``, for every task learned."""
    cells = {
        (row.learning, row.tested): row.cost
        for row in costs
        if row.epoch == config.tasks[row.learning - 1].epochs
    }
    k = len(config.tasks)
    learned = [i for i in range(1, k + 1) if all((i, j) in cells for j in range(1, k + 1))]
    return [[cells[i, j] for j in range(1, k + 1)] for i in learned]


def summary(matrix: list[list[float]], config: Config) -> dict[str, Any]:
    """Return what ``metrics.json`` holds; metrics are over the tasks learned so far.

    ``d*`` is the best of this run; `compare` uses the best of all runs compared.
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
    """Refuse a folder with nothing but parameters to start from, where a lifelong run is wanted.

    Raises
    ------
    FolderError
        If it is one.
    """
    if config.method in STARTS:
        raise FolderError(folder, RUN, STARTS[config.method])
