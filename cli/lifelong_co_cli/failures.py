"""Every error as one line and an exit status (`errors.exit_status`)."""

import os
import re
import sys
import traceback
from codecs import lookup
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from itertools import pairwise
from typing import Any, TextIO

from lifelong_co_cli.advice import advice

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that break a line or change the look of a terminal."""
# What torch and numpy say when memory is exhausted; torch raises a plain RuntimeError on the CPU.
MEMORY = re.compile(
    "can't allocate memory|not enough memory|out of memory|unable to allocate"
    "|storage size calculation overflowed|overflow when unpacking long"
    "|array is too big|maximum allowed dimension",
    re.IGNORECASE,
)
EXPECTED = {
    "int_parsing": "expected a whole number",
    "float_parsing": "expected a number",
    "greater_than_equal": "expected at least {ge}",
    "less_than_equal": "expected at most {le}",
}
"""What we say, by the name that pydantic has for a reason."""
LESS_MEMORY = (
    "reduce the size or batch_size of the tasks, --tests, --buffer-size, --replay-size or the"
    " network; in solve --trajectories, in benchmark --at-once or --batch"
)


def refuse_other_encodings(arguments: Sequence[str]) -> None:
    """End the program if an argument is not UTF-8: run folders and reports could not name it."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            show(f"expected arguments in UTF-8, got {os.fsencode(argument)!r}; rename the file")
            raise SystemExit(2) from None


def show_what_can_be_shown(output: TextIO | None) -> None:
    """Show ``?`` for a character that the encoding of an output lacks; UTF-8 has all."""
    if isinstance(output, TextIOWrapper) and lookup(output.encoding).name != "utf-8":
        output.reconfigure(errors="replace")


def refuse_empty(arguments: Sequence[str]) -> None:
    """End the program if an argument is empty: it is not the same as an option left out."""
    for before, argument in pairwise(("", *arguments)):
        option = re.fullmatch(r"(--[\w-]+)=", argument)
        if option or not argument:
            name = option[1] if option else before if before.startswith("-") else "an argument"
            show(f"{name}: expected a value, got an empty text; leave it out or give a value")
            raise SystemExit(2)


def status_of(error: Exception) -> int:
    """Show an error as one line and return the exit status.

    Errors that are mistakes of ours are raised again.
    """
    # This imports torch, which `--help` must not wait for.
    from lifelong_co.errors import FAULT, FolderError, LifelongError, exit_status, explained

    if isinstance(error, OSError):
        close_output()
        if not isinstance(error, BrokenPipeError):  # `| head` has read enough
            show(explained(error))
        return exit_status(error)
    if isinstance(error, UnicodeEncodeError):
        around = error.object[max(0, error.start - 80) : error.end + 80]
        show(f"expected names in UTF-8, got {around!r}; rename the file or folder")
        return 2
    if not isinstance(error, LifelongError) and is_memory_exhausted(error):
        show(f"memory exhausted ({first_line(error)}); {LESS_MEMORY}")
        return FAULT
    if not isinstance(error, LifelongError):
        raise error
    shown = f"{error}; {advice(error)}" if isinstance(error, FolderError) else f"{error}"
    show(shown + "".join(f" ({note})" for note in getattr(error, "__notes__", ())))
    return exit_status(error)


def wrong_value(error: Exception, message: str) -> str:
    """Return the message of a wrong command line in our words, where typer has pydantic's."""
    reasons: list[Any] = getattr(error.__cause__, "errors", list)()
    for reason in reasons:
        name, said = reason["type"], reason["msg"]
        ours = EXPECTED[name].format(**reason.get("ctx", {})) if name in EXPECTED else ""
        ours = f"{ours}, got {reason['input']!r}" if ours else said.removeprefix("Value error, ")
        message = message.replace(said, ours)
    return message


def called_exit(error: SystemExit) -> str:
    """Return a message that names the code that ends the program; empty if nobody would read it.

    Typer and rich end it if the output is closed.
    """
    if isinstance(error.__context__, BrokenPipeError):
        return ""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{last.filename}, line {last.lineno}, in {last.name}: expected it to return or to raise "
        f"an error, got sys.exit({error.code!r})"
    )


def show(message: str) -> None:
    """Print a message as one line on standard error."""
    with suppress(OSError):  # there is nowhere else to say it
        print("lifelong-co:", one_line(message), file=sys.stderr)


def one_line(message: str) -> str:
    """Return a message without line breaks; other control characters become their escapes."""
    joined = " ".join(line.strip() for line in message.splitlines())
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], joined)


def is_memory_exhausted(error: Exception) -> bool:
    """Return whether an allocation failed, on the CPU or on a GPU."""
    if isinstance(error, MemoryError):  # also that of numpy
        return True
    return isinstance(error, RuntimeError | ValueError | TypeError) and bool(
        MEMORY.search(str(error))
    )


def first_line(error: Exception) -> str:
    """Return what an error says, without the advice that torch appends."""
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__


def close_output() -> None:
    """Drop what standard output still holds if it cannot be written.

    Otherwise Python writes it once more at exit, with an error of several lines.
    """
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
