"""The remaining time of a sweep, estimated by the mean of its finished runs of the same kind."""

import json
import math
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.sweep.plan import Plan


def remaining(plan: Plan) -> dict[str, float]:
    """Return the estimated seconds of training left for each unfinished run of a plan.

    The estimate is the mean over the finished runs with the same problem, solver and tasks in any
    order, minus the time that is already in the log of the run.

    Returns
    -------
    Seconds by name of the run. Empty if some unfinished run has no finished run of its kind.
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
    tasks = sorted((task.size, task.epochs, task.batches, task.instances) for task in config.tasks)
    return config.problem, config.solver, tuple(tasks)


def logged(folder: Path) -> float:
    """Return the seconds of training in the log of a run, up to the first damaged line."""
    seconds = 0.0
    try:
        for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines():
            seconds += float(json.loads(line)["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return seconds


def wall(seconds: Iterable[float], slots: int) -> float:
    """Return a lower bound on the time in which ``slots`` finish runs of these durations."""
    each = list(seconds)
    return max(math.fsum(each) / slots, max(each, default=0.0))


def show(seconds: float) -> str:
    """Return a duration as text, e.g. ``1 h 05 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
