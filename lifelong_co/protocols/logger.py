"""For authors of loggers: what a run logs."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Logger(Protocol):
    """Gets the losses of every epoch and the costs of every test of a run, once each.

    It is made when the run folder is there. It opens files and connections in `start`: if that
    succeeds, `close` comes at the end.
    """

    def start(self, epochs: Sequence[Mapping[str, Any]], tests: Sequence[Any]) -> None:
        """Begin with what the run has learned so far: nothing, or on a resume the saved part.

        Afterwards the output must hold exactly these; a killed run may have logged more.
        ``epochs`` are as in `epoch`, ``tests`` as in `tests`.
        """

    def epoch(self, entry: Mapping[str, Any]) -> None:
        """Log an epoch: a line of ``log.jsonl``.

        ``learning`` and ``epoch`` count from 1, ``losses`` maps names to means over the epoch,
        ``train_cost`` is the mean training cost, ``seconds`` the time of the epoch.
        """

    def tests(self, rows: Sequence[Any]) -> None:
        """Log tests: rows of ``costs.csv`` (`runs.costs.Cost`), with the names of the tasks."""

    def close(self) -> None:
        """Finish, when the run ends or is stopped."""
