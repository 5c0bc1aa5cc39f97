"""The journal of a run: appended, cut back, rebuilt from its second copy, or refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import contents
from tiny_costs import CONFIG, costs

from lifelong_co.errors import CheckpointError
from lifelong_co.runs.costs import HEADER, as_csv, as_lines
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.journal import COSTS, LOG, Journal
from lifelong_co.storage.checkpoint import CheckpointWarning

ENTRIES = [{"learning": 1, "epoch": 1}, {"learning": 1, "epoch": 2}, {"learning": 2, "epoch": 1}]
FILES = pytest.mark.parametrize("name", [COSTS, LOG])


def recorded(folder: Path) -> tuple[Journal, dict[str, Any]]:
    """Return a journal of two tasks, the second one not ended, and its state."""
    RunFolder(folder).create(CONFIG)
    journal = Journal(RunFolder(folder))
    for entry in ENTRIES:
        journal.add_costs(row for row in costs()[:4] if (row.learning, row.epoch) == key(entry))
        journal.add_epoch(entry)
        journal.write()
        if key(entry) == (1, 2):
            journal.end_task()
    return journal, json.loads(json.dumps(journal.state_dict()))


def key(entry: dict[str, int]) -> tuple[int, int]:
    """Return the task and the epoch of an entry."""
    return entry["learning"], entry["epoch"]


def test_files_hold_every_line_once(tmp_path: Path) -> None:
    """What is not yet written is returned, too."""
    journal, _ = recorded(tmp_path)
    assert journal.costs() == costs()[:3]
    assert journal.epochs() == ENTRIES
    assert (tmp_path / COSTS).read_text() == as_csv([HEADER]) + as_lines(costs()[:3])
    assert (tmp_path / LOG).read_text() == "".join(json.dumps(e) + "\n" for e in ENTRIES)
    journal.add_costs(costs()[3:4])
    journal.add_epoch({"epoch": 9})
    assert journal.costs() == costs()[:4]
    assert journal.epochs()[-1] == {"epoch": 9}


def test_state_has_only_the_lines_of_the_present_task(tmp_path: Path) -> None:
    """The lines of the first task are in its folder."""
    _, state = recorded(tmp_path)
    assert state[LOG]["task"] == json.dumps(ENTRIES[2]) + "\n"
    part = RunFolder(tmp_path).after_task(1)
    assert (part / LOG).read_text() + state[LOG]["task"] == (tmp_path / LOG).read_text()
    assert (part / COSTS).read_text() + state[COSTS]["task"] == (tmp_path / COSTS).read_text()


def test_later_lines_are_cut_off(tmp_path: Path) -> None:
    """The run was killed between an append and its checkpoint; this is no reason to warn."""
    journal, state = recorded(tmp_path)
    before = contents(tmp_path)
    journal.add_costs(costs()[3:])
    journal.add_epoch({"epoch": 2})
    journal.write()
    assert contents(tmp_path) != before
    restored = Journal(RunFolder(tmp_path))
    restored.restore(state)
    assert contents(tmp_path) == before
    assert restored.state_dict() == state


@FILES
@pytest.mark.parametrize("damage", ["missing", "truncated or altered", "short"])
def test_damaged_file_is_rebuilt(tmp_path: Path, name: str, damage: str) -> None:
    """One line of warning names it; the bytes are those of before."""
    _, state = recorded(tmp_path)
    before = contents(tmp_path)
    file = tmp_path / name
    if damage == "missing":
        file.unlink()
    elif damage == "short":
        file.write_bytes(file.read_bytes()[:-1])
    else:
        file.write_bytes(file.read_bytes().replace(b"1", b"7", 1))
    said = "missing" if damage == "missing" else "truncated or altered"
    restored = Journal(RunFolder(tmp_path))
    with pytest.warns(CheckpointWarning, match=f"{file}: {said}; rebuilt from") as warned:
        restored.restore(state)
    assert len(warned) == 1
    assert contents(tmp_path) == before
    assert restored.state_dict() == state


@FILES
def test_file_whose_copy_is_damaged_too_is_refused(tmp_path: Path, name: str) -> None:
    """The error names the file and its copy, and nothing is changed."""
    _, state = recorded(tmp_path)
    (tmp_path / name).unlink()
    part = RunFolder(tmp_path).after_task(1) / name
    part.write_bytes(part.read_bytes().replace(b"1", b"7", 1))
    before = contents(tmp_path)
    with pytest.raises(CheckpointError, match=rf"{tmp_path / name}: missing, and .* altered, too"):
        Journal(RunFolder(tmp_path)).restore(state)
    part.unlink()
    with pytest.raises(CheckpointError, match=rf"{tmp_path / name}: missing, .*{part} cannot be"):
        Journal(RunFolder(tmp_path)).restore(state)
    del before[str(part.relative_to(tmp_path))]
    assert contents(tmp_path) == before


def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The error has its path."""
    (tmp_path / LOG).mkdir()
    with pytest.raises(IsADirectoryError, match=r"log\.jsonl"):
        Journal(RunFolder(tmp_path)).write()
