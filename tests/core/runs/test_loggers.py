"""The loggers of a run do not disturb each other, and an error names its logger."""

from typing import Any

import pytest

from lifelong_co.errors import ComponentError
from lifelong_co.runs.costs import Cost
from lifelong_co.runs.loggers import Loggers


class Kept:
    """Keeps what it gets."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.closed = False

    def start(self, epochs: Any, tests: Any) -> None:
        """Keep both."""
        self.got += [epochs, tests]

    def epoch(self, entry: Any) -> None:
        """Keep it."""
        self.got.append(entry)

    def tests(self, rows: Any) -> None:
        """Keep them."""
        self.got.append(rows)

    def close(self) -> None:
        """Note it."""
        self.closed = True


class Clears(Kept):
    """Empties what it gets."""

    def start(self, epochs: Any, tests: Any) -> None:
        """Empty both."""
        epochs.clear()
        tests.clear()

    def epoch(self, entry: Any) -> None:
        """Empty the losses."""
        entry["losses"].clear()

    def tests(self, rows: Any) -> None:
        """Empty the rows."""
        rows.clear()


class Broken(Kept):
    """Raises an error."""

    def epoch(self, entry: Any) -> None:
        """Raise it."""
        raise ValueError(entry["losses"])

    def close(self) -> None:
        """Raise it."""
        raise OSError("the disk is away")


class Refuses(Kept):
    """Raises an error at the start."""

    def start(self, epochs: Any, tests: Any) -> None:  # noqa: ARG002
        """Raise it."""
        raise ValueError("no network")


def test_loggers_before_one_that_does_not_start_are_closed() -> None:
    """Nothing more comes; those after it have not been started."""
    before, after = Kept(), Kept()
    three = Loggers({"keeps": before, "refuses": Refuses(), "never": after})
    with pytest.raises(
        ComponentError, match=r"logger 'refuses': start\(\): ValueError: no network"
    ):
        three.start([], [])
    assert (before.closed, after.closed, after.got) == (True, False, [])


def test_logger_gets_what_another_one_has_emptied() -> None:
    """Each has a copy."""
    kept, cost = Kept(), Cost(1, 1, 1, "U5", 2.0)
    both = Loggers({"clears": Clears(), "keeps": kept})
    both.start([{"losses": {"policy": 1.0}}], [cost])
    both.epoch({"losses": {"policy": 2.0}})
    both.tests([cost])
    assert kept.got == [
        [{"losses": {"policy": 1.0}}],
        [cost],
        {"losses": {"policy": 2.0}},
        [cost],
    ]


def test_error_names_the_logger_and_all_are_closed() -> None:
    """The one after it may have data to write."""
    kept = Kept()
    both = Loggers({"mine": Broken(), "keeps": kept})
    with pytest.raises(ComponentError, match=r"logger 'mine': epoch\(\): ValueError: \{'policy'"):
        both.epoch({"losses": {"policy": 1.0}})
    with pytest.raises(OSError, match="the disk is away") as found:
        both.close()
    assert found.value.__notes__ == ["logger 'mine': close()"]
    assert kept.closed
