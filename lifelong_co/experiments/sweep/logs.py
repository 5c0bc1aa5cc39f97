"""What the log of a run tells a sweep."""

import json
from pathlib import Path


def epochs_logged(folder: Path, tasks: int) -> dict[int, list[float]]:
    """Return the seconds of every finished epoch by task, from 0; a log that is torn tells less.

    Parameters
    ----------
    folder
        A run folder, or none yet.
    tasks
        How many the run has.
    """
    found: dict[int, list[float]] = {}
    try:
        lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines:
            entry = json.loads(line)
            found.setdefault(int(entry["learning"]) - 1, []).append(float(entry["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {task: seconds for task, seconds in found.items() if task < tasks}
