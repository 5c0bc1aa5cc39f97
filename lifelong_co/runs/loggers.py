"""The loggers of a run: each gets data of its own, and an error of one names it."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import registry
from lifelong_co.errors import ComponentError, ConfigError, LifelongError
from lifelong_co.protocols import Logger
from lifelong_co.runs.costs import Cost


@attrs.frozen(eq=False)
class Loggers:
    """The loggers, by their registered names; see `protocols.Logger`."""

    named: Mapping[str, Logger] = attrs.field(factory=dict)

    def start(self, epochs: Sequence[Mapping[str, Any]], tests: Sequence[Cost]) -> None:
        """Give what the run has learned so far; if one fails, those before it are closed."""
        started: dict[str, Logger] = {}
        for name, logger in self.named.items():
            try:
                with _named(name, "start"):
                    logger.start(copy.deepcopy(epochs), list(tests))
            except BaseException:
                with suppress(LifelongError, OSError):  # the first error counts
                    Loggers(started).close()
                raise
            started[name] = logger

    def epoch(self, entry: Mapping[str, Any]) -> None:
        """Give the entry of an epoch."""
        for name, logger in self.named.items():
            with _named(name, "epoch"):
                logger.epoch(copy.deepcopy(entry))

    def tests(self, rows: Sequence[Cost]) -> None:
        """Give tests."""
        for name, logger in self.named.items():
            with _named(name, "tests"):
                logger.tests(list(rows))

    def close(self) -> None:
        """Close all of them; then raise the first error, if there is one."""
        faults: list[Exception] = []
        for name, logger in self.named.items():
            try:
                with _named(name, "close"):
                    logger.close()
            except (LifelongError, OSError) as error:
                faults.append(error)
        if faults:
            raise faults[0]


def loggers_of(names: Iterable[str], folder: Path) -> Loggers:
    """Return the registered loggers of these names, for a run folder.

    Raises
    ------
    ConfigError
        If a logger cannot be made; the message names it.
    """
    made: dict[str, Logger] = {}
    for name in names:
        try:
            made[name] = registry.logger(name, folder)
        except LifelongError:
            raise
        except Exception as error:
            raise ConfigError(f"logger {name!r}: {type(error).__name__}: {error}") from error
    return Loggers(made)


@contextmanager
def _named(name: str, call: str) -> Iterator[None]:
    """Name the logger whose code the block calls.

    Raises
    ------
    ComponentError
        In place of an error of its code. One of the system, say of a full disk, gets a note.
    """
    try:
        yield
    except LifelongError:
        raise
    except OSError as error:
        error.add_note(f"logger {name!r}: {call}()")
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise ComponentError(f"logger {name!r}: {call}(): {said}") from error
