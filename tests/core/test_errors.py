"""The messages of errors: near names, notes, folders; and errors cross processes."""

import errno
import pickle
from pathlib import Path

import pytest

from lifelong_co.errors import (
    FAULT,
    FINAL,
    MISTAKE,
    NEW_FOLDER,
    RUN,
    STOPS_AGAIN,
    ComponentError,
    ConfigError,
    FolderError,
    Interrupted,
    NotFiniteError,
    UnknownNameError,
    exit_status,
    explained,
    is_fault,
    naming,
)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("gm", " Did you mean 'GM'?"), ("varianse", " Did you mean 'variance'?"), ("xyz", "")],
)
def test_unknown_name_suggests_only_near_names(name: str, hint: str) -> None:
    """Wrong case and small mistakes give a suggestion, other names do not."""
    message = f"Unknown thing '{name}'; expected one of: GM, variance.{hint}"
    assert str(UnknownNameError("thing", name, ["GM", "variance"])) == message


def test_unknown_name_without_known_names_says_so() -> None:
    """An empty registry is named, and a note ends the message."""
    error = UnknownNameError("buffer", "x", [], "A note.")
    assert str(error) == "Unknown buffer 'x'; expected one of: none is registered. A note."


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UnknownNameError("thing", "a", ["b"]), "Unknown thing 'a'; expected one of: b."),
        (FolderError(Path("out"), NEW_FOLDER, RUN), "out: expected a new or empty folder, got a"),
        (Interrupted(Path("out")), "stopped; resume it from the folder out"),
    ],
)
def test_errors_survive_pickling(error: Exception, message: str) -> None:
    """An error of another process has the same type and message here."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert str(error).startswith(message)


@pytest.mark.parametrize(
    ("error", "line", "fault"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "a.csv"),
            "a.csv: No space left on device; free space on the disk, then try again",
            True,
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "standard output: No space left on device; free space on the disk, then try again",
            True,
        ),
        (
            IsADirectoryError(errno.EISDIR, "Is a directory", b"runs"),
            "runs: Is a directory; expected a file, got a folder",
            False,
        ),
        (OSError("odd"), "OSError: odd", False),  # a plugin's own
    ],
)
def test_errors_of_the_system_are_explained(error: OSError, line: str, fault: bool) -> None:
    """One line has the file, the reason and the remedy; only the machine has faults."""
    assert explained(error) == line
    assert is_fault(error) == fault


def test_cause_decides_whether_an_error_is_a_fault() -> None:
    """Also where safetensors gives the number of the error only in its message."""
    refused = ConfigError("run: cannot be written")
    assert not is_fault(refused)
    refused.__cause__ = ValueError("I/O error: No space left on device (os error 28)")
    assert is_fault(refused)
    refused.__cause__ = ValueError("I/O error: Is a directory (os error 21)")
    assert not is_fault(refused)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ComponentError("method 'mine' broke"), FAULT),
        (ConfigError("tests: expected"), MISTAKE),
        (NotFiniteError(Path("run"), "step 1: the loss is nan", "start a new run"), STOPS_AGAIN),
    ],
)
def test_exit_status_says_whether_a_second_try_can_help(error: Exception, status: int) -> None:
    """It can only after a fault, whose cause may pass."""
    assert exit_status(error) == status
    assert (status in FINAL) == (status != FAULT)


@pytest.mark.parametrize(
    ("message", "notes"),
    [("Unknown x", ["in run/config.toml"]), ("run: gone", []), ("run/a.csv: damaged", [])],
)
def test_error_without_a_file_gets_its_name(message: str, notes: list[str]) -> None:
    """An error that names a place in the same folder stays unchanged."""
    with pytest.raises(ConfigError) as raised, naming(Path("run/config.toml")):
        raise ConfigError(message)
    assert getattr(raised.value, "__notes__", []) == notes
