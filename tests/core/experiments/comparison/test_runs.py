"""Finished run folders read back, and damaged ones refused."""

import json
import re
from pathlib import Path

import pytest
import synthetic_runs

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.comparison.runs import load_run


def test_a_run_folder_is_read_as_it_was_written(folders: list[Path]) -> None:
    """The cost matrix equals the one in metrics.json, and the log's seconds add up."""
    run = load_run(folders[0])
    written = json.loads((folders[0] / "metrics.json").read_text())
    assert [list(row) for row in run.costs] == written["costs"]
    assert list(run.names) == written["tasks"] == ["E20", "C40", "U10"]
    assert run.seconds == 12 * 1.5


def test_without_a_usable_log_only_the_time_is_unknown(tmp_path: Path) -> None:
    """A log that is missing, torn or altered does not stop a report."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config(), log=False)
    assert load_run(folder).seconds is None
    logged = synthetic_runs.write(tmp_path / "logged", synthetic_runs.config()) / "log.jsonl"
    logged.write_text(logged.read_text().replace("1.5", "2.5", 1))
    assert load_run(logged.parent).seconds is None
    for damaged in ('{"seconds": 1.0}\n{"seco', '{"seconds": 1e308}\n' * 2, "[" * 100_000):
        (folder / "log.jsonl").write_text(damaged)
        assert load_run(folder).seconds is None


def test_folders_without_a_run_are_refused(tmp_path: Path) -> None:
    """A missing folder, a file and a folder of something else are each named."""
    with pytest.raises(ConfigError, match="absent: expected a run folder, found nothing"):
        load_run(tmp_path / "absent")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file: expected a run folder, found a file"):
        load_run(tmp_path / "file")
    with pytest.raises(ConfigError, match=re.escape(str(tmp_path))):
        load_run(tmp_path)


@pytest.mark.parametrize("learned", [0, 1, 2])
def test_an_unfinished_run_is_refused_with_how_to_finish_it(tmp_path: Path, learned: int) -> None:
    """The message counts the tasks that are learned and gives the command that goes on."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    if learned == 0:
        (folder / "costs.csv").unlink()
    else:
        lines = (folder / "costs.csv").read_text().splitlines(keepends=True)
        kept = [line for line in lines if not line[0].isdigit() or int(line[0]) <= learned]
        (folder / "costs.csv").write_text("".join(kept))
        (folder / "costs.csv.sha256").unlink()
    with pytest.raises(ConfigError, match=rf"{learned} of 3 tasks.*run --resume {folder}"):
        load_run(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("learning,epoch", "learn,epoch", "line 1: expected the header"),
        ("\n1,1,1,E20,", "\n1,1,1,U10,", "line 2: task 1 is 'E20'"),
        ("\n1,1,1,E20,", "\n1,1,9,E20,", "line 2: expected tasks from 1 to 3"),
        ("\n1,1,1,E20,", "\n1,1,1,E20,nan", "line 2: expected learning"),
        ("\n1,1,1,E20,", "\n1,1,1,E20,x", "line 2: expected learning"),
        ("\n1,1,1,E20,", "\n1,1,1,E20,1.0\n1,1,1,E20,", "line 3: this test is in the file already"),
    ],
)
def test_damaged_costs_are_refused_by_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Every kind of damage to costs.csv is refused with the line it is in."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    text = (folder / "costs.csv").read_text()
    assert old in text
    (folder / "costs.csv").write_text(text.replace(old, new, 1))
    (folder / "costs.csv.sha256").unlink()  # as in a folder of an earlier version
    with pytest.raises(FileFormatError, match=re.escape(said)):
        load_run(folder)


@pytest.mark.parametrize("damage", ["digit", "last line", "checksum"])
def test_altered_costs_are_refused_with_how_to_repair_them(tmp_path: Path, damage: str) -> None:
    """The message names the file and the command."""
    folder = synthetic_runs.write(tmp_path / "a run", synthetic_runs.config())
    file = folder / "costs.csv"
    if damage == "digit":
        file.write_bytes(file.read_bytes().replace(b"7", b"8", 1))
    elif damage == "last line":
        file.write_bytes(file.read_bytes()[:-4])
    else:
        (folder / "costs.csv.sha256").write_text("nonsense")
    said = rf"{file}: truncated or altered, expected SHA-256 .* run --resume '{folder}'$"
    with pytest.raises(FileFormatError, match=said):
        load_run(folder)


def test_costs_of_a_save_that_did_not_end_are_left_out(tmp_path: Path) -> None:
    """A line after those of the checksum does not count."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    whole = load_run(folder)
    with (folder / "costs.csv").open("a") as file:
        file.write("3,9,1,E20,7.5\n3,9")
    assert load_run(folder) == whole
