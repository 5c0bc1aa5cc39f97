"""Task files: a sequence of tasks in TOML (docs/guides/tasks.md)."""

import re
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.storage.toml import parse, structure
from lifelong_co.tasks.task import Task


def read_tasks(path: Path) -> tuple[Task, ...]:
    """Read a task sequence: a TOML file of ``[[tasks]]`` tables with the fields of `Task`.

    Fields at the top, such as ``epochs``, are defaults for every task; paths are relative to the
    file.

    Raises
    ------
    ConfigError
        If the file is missing or a field is unknown, missing or ill-typed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"task file {path}: cannot be read ({reason})") from error
    data = parse(text, str(path))
    tables = data.pop("tasks", None)
    if not isinstance(tables, list) or not tables:
        raise ConfigError(f"task file {path}: expected at least one [[tasks]] table, got none")
    for table in tables:
        if not isinstance(table, dict):
            raise ConfigError(f"task file {path}: expected [[tasks]] tables, got {table!r}")
    known = [field.name for field in attrs.fields(Task)]
    for name in data:  # it would be looked for in the first task
        if name not in known:
            reason = UnknownNameError("key", name, ["tasks", *known])
            raise ConfigError(f"task file {path}: {reason}")
    tasks = []
    for number, table in enumerate(tables, start=1):
        task = structure({**data, **table}, Task, f"task file {path}, task {number}")
        tasks.append(with_whole_paths(task, path.parent))
    return tuple(tasks)


def with_whole_paths(task: Task, folder: Path) -> Task:
    """Return a task with absolute paths of its files; relative ones are those in ``folder``.

    A folder such as ``2024.06`` keeps its dot in the name of the task.
    """
    paths: dict[str, Any] = {
        field: str((folder / getattr(task, field)).resolve())
        for field in ("files", "test_files")
        if getattr(task, field)
    }
    suffix = Path(task.files).suffix
    if suffix and not task.name and not re.match(r"\.[A-Za-z]", suffix):  # not a type of files
        stem = Path(task.files).stem
        paths["name"] = stem + suffix + task.label.removeprefix(stem)
    return attrs.evolve(task, **paths)
