"""How long a sweep still takes, by the mean of its finished runs of the same kind."""

import json
import math
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.sweep.plan import Plan


def remaining(plan: Plan) -> dict[str, float]:
    """Return the seconds that each unfinished run of a plan still trains.

    A run is expected to take as long as the mean of the finished runs of its problem, solver and
    tasks, in any order. What its log holds already is subtracted.

    Returns
    -------
    Seconds by name of the run; empty if no run of its kind is finished for one of them.
    """
    taken: dict[Any, list[float]] = {}
    left = {}
    for name, job in plan.jobs.items():
        if job.finished:
            taken.setdefault(_kind(job.config), []).append(logged(job.folder))
        else:
            left[name] = job
    if any(_kind(job.config) not in taken for job in left.values()):
        return {}
    means = {kind: statistics.fmean(seconds) for kind, seconds in taken.items()}
    return {
        name: max(0.0, means[_kind(job.config)] - logged(job.folder)) for name, job in left.items()
    }


def _kind(config: Config) -> Any:
    tasks = sorted((task.size, task.epochs, task.batches, task.batch_size) for task in config.tasks)
    return config.problem, config.solver, tuple(tasks)


def logged(folder: Path) -> float:
    """Return the seconds of training in the log of a run; lines after a torn one do not count."""
    seconds = 0.0
    try:
        for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines():
            seconds += float(json.loads(line)["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return seconds


def wall(seconds: Iterable[float], slots: int) -> float:
    """Return the least time in which slots can do runs that take so long each."""
    each = list(seconds)
    return max(math.fsum(each) / slots, max(each, default=0.0))


def show(seconds: float) -> str:
    """Return a duration for people, e.g. ``1 h 05 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
