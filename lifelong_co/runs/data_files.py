"""What the files of a run's tasks held when it got them: ``data.json`` of its folder."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.storage.files import write_whole
from lifelong_co.tasks.contents import digest
from lifelong_co.tasks.task import Task

FILE = "data.json"

Digests = Mapping[str, Mapping[str, str]]
"""Task to ``files`` and ``test_files`` to their SHA-256, for tasks that have them."""


def checked(folder: Path, config: Config, learned: int = 0) -> Digests:
    """Return the digests of the files of a run, which must be those that it knows.

    Instances that the first ``learned`` tasks were trained on are not drawn again. Where these
    tasks have ``test_files``, their ``files`` may be gone.

    Raises
    ------
    ConfigError
        If a file has other content; the message names task and file.
    FileFormatError
        If ``data.json`` has errors, or a file of a task cannot be used.
    """
    held, problem = read(folder), registry.problem(config.problem)
    found: dict[str, dict[str, str]] = {}
    for i, task in enumerate(config.tasks):
        places = {field: getattr(task, field) for field in ("files", "test_files")}
        known = held.get(task.label, {})
        kept = {"files"} if i < learned and task.test_files and "files" in known else set()
        now = {
            field: known[field] if field in kept else digest(place, problem)
            for field, place in places.items()
            if place
        }
        for field, before in known.items():
            if now.get(field) != before:
                raise ConfigError(
                    f"task {task.label}: {field}: expected the content that {places[field]} had"
                    " when the run got this task, got another one; restore the file, or begin a new"
                    " run"
                )
        if now:
            found[task.label] = now
    return found


def keep(folder: Path, found: Digests) -> None:
    """Write the digests of a run that has not all of them: it is new, or has further tasks."""
    if not found.keys() <= read(folder).keys():
        write_whole(folder / FILE, json.dumps(found, indent=1) + "\n")


def changed_tests(folder: Path, config: Config, labels: Collection[str]) -> Iterator[str]:
    """Yield a message for each named task whose test files hold other instances than they did.

    Raises
    ------
    FileFormatError
        If ``data.json`` has errors, or a file cannot be used.
    """
    held, problem = read(folder), registry.problem(config.problem)
    for task in config.tasks:
        before, place = tested(held, task), task.test_files or task.files
        if task.label in labels and before and digest(place, problem) != before:
            yield (
                f"task {task.label}: {place} has another content than when the run began; these are"
                " the costs of other instances"
            )


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
    except (ValueError, TypeError, AttributeError) as error:
        raise FileFormatError(
            f"{file}: expected an object of tasks with the SHA-256 of their files, or no such file"
            f" ({error})"
        ) from error


def tested(held: Digests, task: Task) -> str | None:
    """Return the digest of the files that a task is tested on; None if it is not known."""
    fields = held.get(task.label, {})
    return fields.get("test_files", fields.get("files"))
