"""Lists of whole numbers as text: ``1-3,5``."""

import re
from collections import Counter
from collections.abc import Sequence

from lifelong_co.errors import ConfigError

PART = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", re.ASCII)
NAME = re.compile(r"[^\W\d][\w.+-]*")
# A larger range is probably a typing error: each number is at least one run.
MOST = 10_000


def parse_ranges(text: str, what: str) -> tuple[int, ...]:
    """Return the numbers of a text like ``1-3,5``, in the order written.

    Parameters
    ----------
    text
        Numbers of at least 0 and ranges ``low-high`` (both ends included), separated by commas.
    what
        The name of the numbers in errors.

    Raises
    ------
    ConfigError
        If the text is not a list of numbers and ranges, a range runs downwards, or a number occurs
        twice.
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = PART.fullmatch(part)
        if match is None:
            raise ConfigError(f"{what}: expected numbers and ranges like 1-3,5, got {text!r}")
        low = int(match[1])
        high = low if match[2] is None else int(match[2])
        if high < low:
            raise ConfigError(f"{what}: expected a range that runs upwards, got {part.strip()!r}")
        if high - low >= MOST:
            raise ConfigError(f"{what}: expected at most {MOST} numbers, got {part.strip()!r}")
        numbers.extend(range(low, high + 1))
    twice = sorted(number for number, count in Counter(numbers).items() if count > 1)
    if twice:
        raise ConfigError(f"{what}: expected each number once, got {twice[0]} twice in {text!r}")
    return tuple(numbers)


def parse_orders(text: str) -> tuple[str, ...]:
    """Return the orders of a text like ``1-3,variants``: first the numbers, then the names.

    Raises
    ------
    ConfigError
        As `parse_ranges`; also if a name occurs twice.
    """
    parts = [part.strip() for part in text.split(",")]
    named = [part for part in parts if NAME.fullmatch(part)]
    if len(set(named)) < len(named):
        raise ConfigError(f"orders: expected each name once, got {text!r}")
    numbers = ",".join(part for part in parts if part not in named)
    if named and not numbers:
        return tuple(named)
    return (*map(str, parse_ranges(numbers, "orders")), *named)


def show_ranges(numbers: Sequence[int]) -> str:
    """Undo `parse_ranges`: consecutive numbers become a range."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
