"""The folder of a run: what is written, read back, and refused."""

import csv
import json
from pathlib import Path

import attrs
import pytest
from tiny_runs import EPOCHS, tiny_config

from lifelong_co.errors import IMPORTED, PRETRAINED, RUN, ConfigError, FolderError
from lifelong_co.runs.folder import Cost, RunFolder, cost_matrix, refuse_start, summary

CONFIG = tiny_config("fine-tuning", sizes=(5, 6))
MATRIX = [[4.0, 6.0], [5.0, 5.5]]


def costs(matrix: list[list[float]] = MATRIX) -> list[Cost]:
    """Return a test on the way and those after each task."""
    rows = [Cost(1, 1, 1, "U5", 9.0)]
    for i, row in enumerate(matrix, start=1):
        rows += [Cost(i, EPOCHS, j, f"U{4 + j}", cost) for j, cost in enumerate(row, start=1)]
    return rows


def test_new_folder_holds_the_configuration(tmp_path: Path) -> None:
    """It is read back equal; missing parents are made, and an empty folder is accepted."""
    for place in (tmp_path / "a" / "b", tmp_path / "empty"):
        if place.name == "empty":
            place.mkdir()
        RunFolder(place).create(CONFIG)
        assert RunFolder(place).config() == CONFIG
        assert RunFolder(place).checkpoints.is_dir()


@pytest.mark.parametrize(
    ("method", "found"),
    [
        ("llr-bc", RUN),
        ("maml", PRETRAINED),
        ("import-checkpoint", IMPORTED),
        ("", "something else"),
    ],
)
def test_folder_in_use_is_refused_and_unchanged(tmp_path: Path, method: str, found: str) -> None:
    """The error says what the folder holds."""
    if method:
        RunFolder(tmp_path).create(attrs.evolve(CONFIG, method=method))
    else:
        (tmp_path / "config.toml").write_text("[[tasks")
    before = (tmp_path / "config.toml").read_bytes()
    with pytest.raises(FolderError, match="expected a new or empty folder") as refused:
        RunFolder(tmp_path).create(CONFIG)
    assert (refused.value.folder, refused.value.found) == (tmp_path, found)
    assert (tmp_path / "config.toml").read_bytes() == before


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """One line names the path, for instance that of a file."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"run folder .*file/run: cannot be written"):
        RunFolder(tmp_path / "file" / "run").create(CONFIG)
    with pytest.raises(FolderError, match="got something else"):
        RunFolder(tmp_path / "file").create(CONFIG)


def test_costs_are_written_with_all_digits(tmp_path: Path) -> None:
    """A cost is read back to the same bits."""
    RunFolder(tmp_path).create(CONFIG)
    precise = [[0.1 + 0.2, 1 / 3], [2**0.5, 5.5]]
    RunFolder(tmp_path).write_costs(costs(precise), CONFIG)
    with (tmp_path / "costs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["cost"]) for row in rows] == [9.0, *precise[0], *precise[1]]
    assert rows[-1] == {"learning": "2", "epoch": "2", "tested": "2", "name": "U6", "cost": "5.5"}


def test_metrics_are_over_the_tasks_learned_so_far(tmp_path: Path) -> None:
    """There are no metrics before the first task ends; later they are of the square so far."""
    folder = RunFolder(tmp_path)
    folder.create(CONFIG)
    folder.write_costs(costs()[:1], CONFIG)
    assert not (tmp_path / "metrics.json").exists()
    folder.write_costs(costs()[:3], CONFIG)
    first = json.loads((tmp_path / "metrics.json").read_text())
    assert first["costs"] == MATRIX[:1]
    assert first["metrics"] == {"AP": 0.0, "AF": None, "AMF": None, "APl": 0.0, "AG": None}
    folder.write_costs(costs(), CONFIG)
    both = json.loads((tmp_path / "metrics.json").read_text())
    assert both["best"] == [4.0, 5.5]
    assert both["metrics"]["AP"] == pytest.approx(0.125)
    assert both["metrics"]["AF"] == pytest.approx(0.25)


def test_matrix_has_only_complete_rows() -> None:
    """Tests during a task do not count, nor does a task without tests of all tasks."""
    assert cost_matrix(costs(), CONFIG) == MATRIX
    assert cost_matrix(costs()[:-1], CONFIG) == MATRIX[:1]
    assert cost_matrix(costs()[:1], CONFIG) == []


def test_method_that_knows_all_tasks_has_no_forgetting() -> None:
    """Only AP has a meaning for such a method; a method that is not installed has all metrics."""
    for method, meaning in (("multi-task-epoch", False), ("fine-tuning", True), ("absent", True)):
        found = summary(MATRIX, attrs.evolve(CONFIG, method=method))["metrics"]
        assert found["AP"] is not None
        assert (found["AF"] is not None) == meaning


def test_log_has_one_line_per_epoch(tmp_path: Path) -> None:
    """Each line is JSON."""
    RunFolder(tmp_path).write_log([{"epoch": 1}, {"epoch": 2}])
    assert (tmp_path / "log.jsonl").read_text() == '{"epoch": 1}\n{"epoch": 2}\n'


@pytest.mark.parametrize(
    ("method", "found"),
    [("reptile", PRETRAINED), ("fomaml", PRETRAINED), ("import-checkpoint", IMPORTED)],
)
def test_pretrained_or_imported_folder_is_no_lifelong_run(method: str, found: str) -> None:
    """The error says what the folder holds; a lifelong run passes."""
    with pytest.raises(FolderError, match="expected a lifelong run") as refused:
        refuse_start(attrs.evolve(CONFIG, method=method), Path("start"))
    assert refused.value.found == found
    refuse_start(CONFIG, Path("start"))
