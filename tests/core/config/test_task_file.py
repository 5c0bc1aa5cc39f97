"""Task files: defaults, paths, and what is refused."""

from pathlib import Path
from typing import Any

import attrs
import pytest

import lifelong_co as lco
from lifelong_co.config.resolve import resolve
from lifelong_co.config.task_file import read_tasks
from lifelong_co.tasks.task import Task

BUDGET = "epochs = 2\nbatches = 3\nbatch_size = 4\n"


def test_task_file_gives_the_tasks(task_file: Any, tmp_path: Path) -> None:
    """Defaults stand at the top, values of a task in its table; paths are relative to the file."""
    path = task_file(
        BUDGET
        + """
        [[tasks]]
        distribution = "U"
        size = 20
        [[tasks]]
        distribution = "GM"
        size = 7
        epochs = 9
        capacity = 60
        variant = "paper"
        [[tasks]]
        files = "data/mine.npz"
        test_files = "../other.npz"
        [[tasks]]
        distribution = "U"
        size = 20
        """
    )
    uniform = Task(distribution="U", size=20, epochs=2, batches=3, batch_size=4)
    mixture = attrs.evolve(
        uniform, distribution="GM", size=7, epochs=9, capacity=60, variant="paper"
    )
    files = attrs.evolve(
        uniform,
        distribution="",
        size=0,
        files=str((tmp_path / "data" / "mine.npz").resolve()),
        test_files=str((tmp_path.parent / "other.npz").resolve()),
    )
    assert read_tasks(path) == (uniform, mixture, files, uniform)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # as some editors of Windows write it
    assert read_tasks(path) == (uniform, mixture, files, uniform)
    config = resolve(tasks_file=path)
    assert [task.label for task in config.tasks] == ["U20", "GM7", "mine", "U20 (2)"]
    assert config.order == str(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"expected at least one \[\[tasks\]\] table, got none"),
        ("tasks = 3", r"expected at least one \[\[tasks\]\] table"),
        ("tasks = [1]", r"expected \[\[tasks\]\] tables, got 1"),
        ("tasks = ", "not valid TOML"),
        ("[[tasks]]\ndistribution = 'U'\nsize = 5", r"task 1: epochs: required field missing"),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsiz = 5", "key 'siz'.*Did you mean 'size'"),
        (
            BUDGET + "tests = 9\n[[tasks]]\ndistribution = 'U'\nsize = 5",
            "toml: Unknown key 'tests'",
        ),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = '5'", "expected a whole number, got '5'"),
        (
            BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = true",
            "expected a whole number, got True",
        ),
        (
            BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5.0",
            r"expected a whole number, got 5\.0",
        ),
        (BUDGET + "[[tasks]]\ndistribution = 7\nsize = 5", "expected a text, got 7"),
        (
            BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5\nattributes = {open = 1}",
            "expected a list, got {'open': 1}",
        ),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 1", "at least 2 nodes, got 1"),
        (BUDGET + "[[tasks]]\nsize = 5", "either a distribution or files"),
        (
            BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5\n[[tasks]]\nepochs = 0\nfiles = 'x'",
            "task 2: .*epochs: expected a whole number of at least 1, got 0",
        ),
    ],
)
def test_bad_task_file_is_refused(task_file: Any, content: str, match: str) -> None:
    """The error names the file, the task and the fault."""
    path = task_file(content)
    with pytest.raises(lco.ConfigError, match=match) as caught:
        read_tasks(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("files", "label"), [("2024.06", "2024.06"), ("may.npz", "may"), ("a.b.vrp", "a.b")]
)
def test_folder_keeps_its_dot(task_file: Any, files: str, label: str) -> None:
    """The name is stored: a run of a former version, which has none, keeps the label it had."""
    (task,) = read_tasks(task_file(BUDGET + f"[[tasks]]\nfiles = '{files}'"))
    assert task.label == label
    stored = Task(files=files, epochs=1, batches=1, batch_size=1)
    assert stored.label == Path(files).stem
    table = f"[[tasks]]\nfiles = '{files}'\ndistance = 'manhattan'"
    (task,) = read_tasks(task_file(BUDGET + table))
    assert task.label == f"{label} manhattan"


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_unreadable_task_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """The file is missing or is not text."""
    path = tmp_path / "tasks.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(lco.ConfigError, match=r"tasks\.toml: cannot be read"):
        read_tasks(path)
