"""The commands that messages offer."""

import shlex
from pathlib import Path

import pytest
from lifelong_co_cli.advice import advice, resume_command, stopped

from lifelong_co.errors import IMPORTED, NEW_FOLDER, PRETRAINED, RUN, FolderError

FOLDER = Path("my runs/one")


@pytest.mark.parametrize("command", ["run", "pretrain", "sweep"])
def test_a_command_can_be_pasted(command: str) -> None:
    """A folder with a space stays one word."""
    words = ["lifelong-co", command, "--resume", str(FOLDER)]
    assert shlex.split(resume_command(command, FOLDER)) == words
    assert stopped(command, FOLDER) == f"stopped; continue with: {resume_command(command, FOLDER)}"


@pytest.mark.parametrize(
    ("expected", "found", "offered"),
    [
        (NEW_FOLDER, RUN, ["choose another --out", "run --resume"]),
        (NEW_FOLDER, PRETRAINED, ["choose another --out", "pretrain --resume"]),
        (NEW_FOLDER, IMPORTED, ["choose another --out"]),
        (NEW_FOLDER, "something else", ["choose another --out"]),
        (RUN, PRETRAINED, ["run --start-from", "pretrain --resume"]),
        (RUN, IMPORTED, ["run --start-from"]),
    ],
)
def test_each_folder_has_its_remedies(expected: str, found: str, offered: list[str]) -> None:
    """No more and no fewer than those that work."""
    remedies = advice(FolderError(FOLDER, expected, found)).split(", or ")
    assert len(remedies) == len(offered)
    for remedy, words in zip(remedies, offered, strict=True):
        assert words in remedy
        assert "--out" in remedy or shlex.split(remedy)[-1] == str(FOLDER)
