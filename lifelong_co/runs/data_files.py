"""What the files of a run's tasks held when it got them: ``data.json`` of its folder."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.protocols import Problem
from lifelong_co.storage.files import write_whole
from lifelong_co.tasks.contents import digest, largest
from lifelong_co.tasks.task import Task

FILE = "data.json"
FIELDS = ("files", "test_files")
"""The fields of a task that name files."""

Digests = Mapping[str, Mapping[str, str | int]]
"""Task to what is known of its files: the `digest` of ``files`` and ``test_files``, and, if a task
says no size, the ``largest`` size of its ``files``."""


def size_of(task: Task, held: Digests) -> int:
    """Return the largest size of a task; 0 if it is that of its files and nobody knows them."""
    return task.size or int(held.get(task.label, {}).get("largest", 0))


def checked(folder: Path, config: Config, learned: int = 0) -> Digests:
    """Return what the files of a run hold, which must be what it knows of them.

    Instances that the first ``learned`` tasks were trained on are not drawn again, unless a method
    does so by itself. Where these tasks have ``test_files``, their ``files`` may be gone.

    Raises
    ------
    ConfigError
        If a file has other content; the message names task and file.
    FileFormatError
        If ``data.json`` has errors, or a file of a task cannot be used.
    """
    held, problem = read(folder), registry.problem(config.problem)
    found: dict[str, dict[str, str | int]] = {}
    for i, task in enumerate(config.tasks):
        known = held.get(task.label, {})
        gone = i < learned and task.test_files and "files" in known
        for field in FIELDS:
            place = getattr(task, field)
            if gone and field == "files":
                found.setdefault(task.label, {})[field] = known[field]
            elif place or field in known:
                now = require_known(task, field, known, problem)
                found.setdefault(task.label, {})[field] = now
        if task.files and not task.size:
            found[task.label]["largest"] = known.get("largest") or largest(task, problem)
    return found


def require_known(task: Task, field: str, known: Mapping[str, str | int], problem: Problem) -> str:
    """Return the digest of a task's ``files`` or ``test_files``, which is the known one, if any.

    Raises
    ------
    ConfigError, FileFormatError
        As `checked`.
    """
    place = getattr(task, field)
    now = digest(place, problem) if place else ""
    if known.get(field, now) != now:
        raise ConfigError(
            f"task {task.label}: {field}: expected the content that {place} had when the run got"
            " this task, got another one; restore it, and give new instances another file"
        )
    return now


def unchanged(folder: Path, problem: Problem) -> Callable[[Task], object]:
    """Return the check that the training files of a task of a run are what it knows of them."""
    return lambda task: require_known(task, "files", read(folder).get(task.label, {}), problem)


def keep(folder: Path, found: Digests) -> None:
    """Write the digests of a run that has not all of them: it is new, or has further tasks."""
    if not found.keys() <= read(folder).keys():
        write_whole(folder / FILE, json.dumps(found, indent=1) + "\n")


def changed_tests(held: Digests, config: Config, labels: Collection[str]) -> Iterator[str]:
    """Yield a message for each named task whose test files hold other instances than they did.

    Raises
    ------
    FileFormatError
        If a file cannot be used.
    """
    problem = registry.problem(config.problem)
    for task in config.tasks:
        before, place = tested(held, task), task.test_files or task.files
        if task.label in labels and before and digest(place, problem) != before:
            yield f"task {task.label}: {place} has another content than when the run began"


def require_same(held: Digests, config: Config, seen: dict[str, str]) -> None:
    """Raise an error if a file that is there has another content than a run knows of.

    ``seen`` keeps the digest of each path, so that files of several runs are read once.

    Raises
    ------
    ConfigError
        The message names task and file.
    FileFormatError
        If a file cannot be used.
    """
    problem = registry.problem(config.problem)
    for task in config.tasks:
        for field, known in held.get(task.label, {}).items():
            place = getattr(task, field) if field in FIELDS else ""
            if not place or not Path(place).exists():
                continue
            if place not in seen:
                seen[place] = digest(place, problem)
            if seen[place] != known:
                raise ConfigError(
                    f"task {task.label}: {field}: expected the content that {place} had when the"
                    " run got this task, got another one"
                )


def require_same_tests(held: Digests, config: Config) -> None:
    """Raise `ConfigError` if test files hold other instances than a run knows of."""
    for line in changed_tests(held, config, [task.label for task in config.tasks]):
        raise ConfigError(line)


def read(folder: Path) -> Digests:
    """Return the digests of a run; empty if it has no files, or is of an earlier version.

    Raises
    ------
    FileFormatError
        If the file has errors; the message names it.
    """
    file = folder / FILE
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        return {task: {**fields} for task, fields in held.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise FileFormatError(
            f"{file}: expected an object of tasks with the SHA-256 of their files, or no such file"
            f" ({error})"
        ) from error


def tested(held: Digests, task: Task) -> str | None:
    """Return the digest of the files that a task is tested on; None if it is not known."""
    fields = held.get(task.label, {})
    found = fields.get("test_files", fields.get("files"))
    return None if found is None else str(found)
