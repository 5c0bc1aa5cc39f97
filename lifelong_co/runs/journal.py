"""The journal of a run: ``costs.csv`` and ``log.jsonl``, which grow with every save.

Every line is stored twice: in its file, and either in ``checkpoints/after-task-N/``, which has the
lines of task N, or in the run's checkpoint, which has those of the present task. So a file that is
damaged or missing is rebuilt, and a checkpoint does not grow with the number of learned tasks.
"""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import CheckpointError
from lifelong_co.runs.costs import HEADER, Cost, as_csv, as_lines, parse
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.loggers import Loggers
from lifelong_co.storage.appended import Appended, checked
from lifelong_co.storage.checkpoint import CheckpointWarning
from lifelong_co.storage.files import write_whole

COSTS, LOG = "costs.csv", "log.jsonl"


@attrs.define(eq=False)
class _Lines:
    """The lines of one file."""

    file: Appended
    task: str = ""
    """Those of the present task that are written."""
    fresh: str = ""
    """Those that are not yet written."""


class Journal:
    """Keeps the costs and the log of a run; `write`, `end_task` and `restore` change the disk.

    Parameters
    ----------
    folder
        The run folder. It is not read before `restore` is called.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._loggers = Loggers()
        self._finished = 0  # tasks whose lines are in the folders of finished tasks
        self._lines = {name: _Lines(Appended(folder.path / name)) for name in (COSTS, LOG)}
        self._lines[COSTS].fresh = as_csv([HEADER])

    def add_costs(self, rows: Iterable[Cost]) -> None:
        """Add tests to ``costs.csv``."""
        rows = list(rows)
        self._lines[COSTS].fresh += as_lines(rows)
        self._loggers.tests(rows)

    def add_epoch(self, entry: Mapping[str, Any]) -> None:
        """Add the entry of an epoch to ``log.jsonl``."""
        self._lines[LOG].fresh += json.dumps(entry) + "\n"
        self._loggers.epoch(entry)

    def start_loggers(self, loggers: Loggers, tests: Sequence[Cost]) -> None:
        """Give loggers what the journal holds, later also what is added to it.

        ``tests`` are `costs` with the names that the tasks have in the configuration.
        """
        loggers.start(self.epochs(), tests)
        self._loggers = loggers

    def close_loggers(self) -> None:
        """Close the loggers: nothing more comes."""
        self._loggers.close()

    def costs(self) -> list[Cost]:
        """Return all tests so far, read from the disk."""
        return [cost for _, cost in parse(self._text(COSTS), self._folder.path / COSTS)]

    def epochs(self) -> list[dict[str, Any]]:
        """Return the entries of all epochs so far, read from the disk."""
        return [json.loads(line) for line in self._text(LOG).splitlines()]

    def _text(self, name: str) -> str:
        lines = self._lines[name]
        return (checked(lines.file.path) if lines.file.size else "") + lines.fresh

    def write(self) -> None:
        """Append the new lines to the files.

        Raises
        ------
        OSError
            If a file cannot be written; the error has its name.
        """
        for lines in self._lines.values():
            lines.file.append(lines.fresh)
            lines.task, lines.fresh = lines.task + lines.fresh, ""

    def end_task(self) -> None:
        """Store the lines of the task that ends a second time, in the folder of the task.

        Raises
        ------
        OSError
            If a file cannot be written; the error has its name.
        """
        self.write()
        for name, lines in self._lines.items():
            path = self._part(self._finished + 1, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, lines.task)
            lines.task = ""
        self._finished += 1

    def state_dict(self) -> dict[str, Any]:
        """Return what `restore` needs; there must be no new lines since `write`."""
        return {
            "finished": self._finished,
            **{
                name: {"size": held.file.size, "sha256": held.file.sha256, "task": held.task}
                for name, held in self._lines.items()
            },
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take the files back to a saved state: cut off later lines, rebuild damaged files.

        Warns
        -----
        CheckpointWarning
            For each file that is rebuilt.

        Raises
        ------
        CheckpointError
            If a damaged file cannot be rebuilt.
        OSError
            If a file cannot be read or written.
        """
        self._finished = state["finished"]
        for name in (COSTS, LOG):
            saved = state[name]
            path = self._folder.path / name
            file = Appended.reopen(path, saved["size"], saved["sha256"])
            self._lines[name] = _Lines(file or self._rebuild(name, saved), saved["task"])

    def _rebuild(self, name: str, saved: Mapping[str, Any]) -> Appended:
        path = self._folder.path / name
        fault = "truncated or altered" if path.exists() else "missing"
        parts = [self._part(task, name) for task in range(1, self._finished + 1)]
        try:
            content = b"".join(part.read_bytes() for part in parts) + saved["task"].encode()
        except OSError as error:
            raise CheckpointError(
                f"{path}: {fault}, and cannot be rebuilt, because"
                f" {error.filename} cannot be read ({error.strerror})"
            ) from error
        if hashlib.sha256(content).hexdigest() != saved["sha256"]:
            raise CheckpointError(
                f"{path}: {fault}, and cannot be rebuilt, because the copies of its lines,"
                f" {self._folder.checkpoints}/after-task-*/{name}, are altered, too"
            )
        file = Appended(path)
        file.append(content.decode())
        warnings.warn(
            f"{path}: {fault}; rebuilt from the checkpoints", CheckpointWarning, stacklevel=2
        )
        return file

    def _part(self, task: int, name: str) -> Path:
        return self._folder.after_task(task) / name
