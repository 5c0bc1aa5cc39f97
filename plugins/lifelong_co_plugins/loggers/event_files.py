"""The logger ``tensorboard``: event files that TensorBoard shows while a run learns."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lifelong_co.errors import ConfigError

EVENTS = "events.out.tfevents.*"


def event_files(folder: Path) -> "EventFiles":
    """Return the logger of a run folder; it writes to ``tensorboard/`` there.

    Raises
    ------
    ConfigError
        If the package tensorboard is not installed.
    """
    try:
        from torch.utils.tensorboard.writer import SummaryWriter
    except ImportError as error:
        raise ConfigError(
            "logger 'tensorboard': expected the package tensorboard, which is not installed;"
            " pip install 'lifelong-co[tensorboard]'"
        ) from error
    return EventFiles(folder / "tensorboard", SummaryWriter)


class EventFiles:
    """Writes scalars: ``loss/NAME``, ``train/cost``, ``train/seconds`` and ``test/TASK``.

    Their step is the number of finished epochs of the run, over all tasks.

    Parameters
    ----------
    folder
        The folder of the event files.
    writer
        Called with the folder; returns a ``SummaryWriter``.
    """

    def __init__(self, folder: Path, writer: Callable[[str], Any]) -> None:
        self._folder = folder
        self._make = writer
        self._writer: Any = None
        self._steps: dict[tuple[int, int], int] = {}

    def start(self, epochs: Sequence[Mapping[str, Any]], tests: Sequence[Any]) -> None:
        """Write all events so far to a new file; remove the files of an earlier part of the run."""
        for path in self._folder.glob(EVENTS):
            path.unlink()
        self._steps = {}
        self._writer = self._make(str(self._folder))
        for entry in epochs:
            self.epoch(entry)
        self.tests(tests)

    def epoch(self, entry: Mapping[str, Any]) -> None:
        """Write the losses, the training cost and the seconds of an epoch."""
        step = len(self._steps) + 1
        self._steps[entry["learning"], entry["epoch"]] = step
        self._writer.add_scalar("train/cost", entry["train_cost"], step)
        self._writer.add_scalar("train/seconds", entry["seconds"], step)
        for name, value in entry["losses"].items():
            self._writer.add_scalar(f"loss/{name}", value, step)
        self._writer.flush()

    def tests(self, rows: Sequence[Any]) -> None:
        """Write the costs of tests."""
        for row in rows:
            step = self._steps[row.learning, row.epoch]
            self._writer.add_scalar(f"test/{row.name}", row.cost, step)
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
