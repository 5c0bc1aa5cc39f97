"""The folder of a run: its configuration, costs, metrics, log and checkpoints."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config, read_config, to_toml
from lifelong_co.errors import (
    IMPORTED,
    NEW_FOLDER,
    PRETRAINED,
    RUN,
    ConfigError,
    FolderError,
)
from lifelong_co.runs import measured
from lifelong_co.runs.costs import Cost, read_costs
from lifelong_co.storage import lock
from lifelong_co.storage.checkpoint import checkpoints
from lifelong_co.storage.files import TEMPORARY, write_whole
from lifelong_co.storage.toml import unfit

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
        """Return how many tasks have been learned to their end, with their parameters stored."""
        stored = self.checkpoints.glob("after-task-*/*.safetensors")  # a killed save leaves none
        found = (re.fullmatch(r"after-task-(\d+)", path.parent.name) for path in stored)
        return max((int(number[1]) for number in found if number), default=0)

    def create(self, config: Config) -> None:
        """Create the folder with ``config.toml``, with every option of its components.

        So a run keeps its meaning when a later version has other defaults.

        Raises
        ------
        FolderError
            If the path is a file or a folder that is not empty; nothing is overwritten.
        ConfigError
            If the folder cannot be written.
        """
        self.check_new()
        text = to_toml(with_all_options(config))
        try:
            # The configuration first: a folder that holds only this file can be resumed.
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(self.path / "config.toml", text)
            self.checkpoints.mkdir(exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"run folder {self.path}: cannot be written ({error.strerror or error})"
            ) from error

    def rewrite(self, config: Config) -> None:
        """Write the configuration of a run that gets further tasks."""
        write_whole(self.path / "config.toml", to_toml(config))

    def check_new(self) -> None:
        """Raise an error unless a run can be created here.

        A lock, temporary files and an import without its checkpoint do not count: a process that
        was killed early leaves them.

        Raises
        ------
        FolderError
            If the path is a file or a folder that is not empty.
        """
        if self.path.is_dir():
            names = [path.name for path in self.path.iterdir()]
            if all(name == lock.FILE or TEMPORARY.fullmatch(name) for name in names):
                return
            if self._holds() == IMPORTED and not any(checkpoints(self.checkpoints)):
                return
        if os.path.lexists(self.path):
            raise FolderError(self.path, NEW_FOLDER, self._holds())

    def _holds(self) -> str:
        try:
            return STARTS.get(self.config().method, RUN)
        except ConfigError:
            return "something else"

    def config(self) -> Config:
        """Read the resolved configuration; see `run_config.read_config`."""
        return read_config(self.path)

    def costs(self, config: Config) -> Iterator[Cost]:
        """Yield the rows of ``costs.csv``; see `costs.read_costs`."""
        return read_costs(self.path / "costs.csv", [task.label for task in config.tasks])

    def write_metrics(self, config: Config) -> None:
        """Write ``metrics.json`` for the tasks learned so far, from ``costs.csv``.

        Raises
        ------
        FileFormatError
            If ``costs.csv`` has errors.
        OSError
            If a file cannot be read or written.
        """
        found = self.summary(config)
        if found:
            indent = 1 if "costs" in found else None
            write_whole(self.path / "metrics.json", json.dumps(found, indent=indent))

    def summary(self, config: Config) -> dict[str, Any]:
        """Return the content of ``metrics.json``, empty before the end of the first task.

        Raises
        ------
        FileFormatError, OSError
            If ``costs.csv`` has errors or cannot be read.
        """
        rows = measured.cost_rows(self.costs(config), config)
        return measured.content(rows, config) if rows else {}


def with_all_options(config: Config) -> Config:
    """Return a configuration with every option of its solver, method and objective.

    A default that a file would change, say a function or a tuple, is left out.
    """

    def spelled_out(kind: str, component: str, given: Mapping[str, Any]) -> dict[str, Any]:
        every = registry.all_options(kind, component, given)
        return {
            name: value for name, value in every.items() if name in given or not any(unfit(value))
        }

    return attrs.evolve(
        config,
        solver_options=spelled_out("solver", config.solver, config.solver_options),
        method_options=spelled_out("method", config.method, config.method_options),
        objective_options=spelled_out("objective", config.objective, config.objective_options),
    )


def refuse_start(config: Config, folder: Path) -> None:
    """Raise an error if a folder is not a lifelong run but a pretraining or an import.

    Raises
    ------
    FolderError
        If the folder holds a pretraining or an imported checkpoint.
    """
    if config.method in STARTS:
        raise FolderError(folder, RUN, STARTS[config.method])


def fresh_folder(wanted: Path) -> Path:
    """Return the folder, or the first of ``name-2``, ``name-3``, … that does not exist."""
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder
