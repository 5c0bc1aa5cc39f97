"""The folder of a run: its configuration, costs, metrics, log and checkpoints."""

import json
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.run_config import Config, read_config, to_toml
from lifelong_co.errors import (
    IMPORTED,
    NEW_FOLDER,
    PRETRAINED,
    RUN,
    CheckpointError,
    ConfigError,
    FolderError,
)
from lifelong_co.runs.costs import cost_matrix, read_costs, summary
from lifelong_co.storage.files import write_whole

STARTS = {
    "reptile": PRETRAINED,
    "fomaml": PRETRAINED,
    "maml": PRETRAINED,
    "import-checkpoint": IMPORTED,
}
"""``method`` of a configuration to the kind of folder, for folders that are not lifelong runs."""


@attrs.frozen
class RunFolder:
    """Reads and writes the files of one run, except `journal`'s; each is whole or absent."""

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
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise FolderError(self.path, NEW_FOLDER, self._holds())
        try:
            # The configuration first: a folder that holds only this file can be resumed.
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

    def write_metrics(self, config: Config) -> None:
        """Write ``metrics.json`` for the tasks learned so far, from ``costs.csv``.

        Raises
        ------
        CheckpointError
            If ``costs.csv`` cannot be read, or ``metrics.json`` cannot be written.
        FileFormatError
            If ``costs.csv`` has errors.
        """
        file = self.path / "metrics.json"
        try:
            rows = (cost for _, cost in read_costs(self.path / "costs.csv"))
            matrix = cost_matrix(rows, config)
            if matrix:
                write_whole(file, json.dumps(summary(matrix, config), indent=1))
        except OSError as error:
            raise CheckpointError(
                f"{file}: could not be written ({error.filename}: {error.strerror or error})"
            ) from error

    def write_log(self, entries: list[dict[str, Any]]) -> None:
        """Write ``log.jsonl``: one line per epoch."""
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        write_whole(self.path / "log.jsonl", lines)


def refuse_start(config: Config, folder: Path) -> None:
    """Raise an error if a folder is not a lifelong run but a pretraining or an import.

    Raises
    ------
    FolderError
        If the folder holds a pretraining or an imported checkpoint.
    """
    if config.method in STARTS:
        raise FolderError(folder, RUN, STARTS[config.method])
