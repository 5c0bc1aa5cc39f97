"""The messages of errors: near names, notes, folders; and errors cross processes."""

import pickle
from pathlib import Path

import pytest

from lifelong_co.errors import NEW_FOLDER, RUN, FolderError, Interrupted, UnknownNameError


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
