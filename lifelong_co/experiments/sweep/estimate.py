"""The remaining time of a sweep, estimated by the mean of its most similar finished runs."""

import json
import math
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.sweep.plan import Plan


def taken_by(plan: Plan) -> dict[str, float]:
    """Return the seconds of training of each finished run of a plan, by name."""
    return {name: logged(job.folder) for name, job in plan.jobs.items() if job.finished}


def remaining(plan: Plan, finished: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the estimated seconds of training left for each unfinished run of a plan.

    The estimate is the mean over the finished runs of the same row of the tables, or else over
    those of any method with the same problem, solver and tasks, in any order. The time that is
    already in the log of the run is subtracted. ``finished`` is the result of `taken_by`; None:
    the folders are read now.

    Returns
    -------
    Seconds by name of the run. Empty if some unfinished run has no finished run with the same
    problem, solver and tasks.
    """
    done = taken_by(plan) if finished is None else finished
    taken: dict[Any, list[float]] = {}
    left = {}
    for name, job in plan.jobs.items():
        if name in done:
            for likeness in _likenesses(job.config):
                taken.setdefault(likeness, []).append(done[name])
        else:
            left[name] = job
    found = {}
    for name, job in left.items():
        similar = next((taken[like] for like in _likenesses(job.config) if like in taken), None)
        if similar is None:
            return {}
        found[name] = max(0.0, statistics.fmean(similar) - logged(job.folder))
    return found


def _likenesses(config: Config) -> tuple[Any, Any]:
    """Return what runs have in common that take the same time: exactly, and roughly."""
    tasks = sorted((task.size, task.epochs, task.batches, task.instances) for task in config.tasks)
    kind = config.problem, config.solver, tuple(tasks)
    options = repr(sorted(config.method_options.items()))
    return (*kind, config.method, options, config.objective), kind


def logged(folder: Path) -> float:
    """Return the seconds of training in the log of a run, up to the first damaged line."""
    seconds = 0.0
    try:
        for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines():
            seconds += float(json.loads(line)["seconds"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        pass
    return seconds


def wall(seconds: Iterable[float], slots: int) -> float:
    """Return a lower bound on the time in which ``slots`` finish runs of these durations."""
    each = list(seconds)
    return max(math.fsum(each) / slots, max(each, default=0.0))
