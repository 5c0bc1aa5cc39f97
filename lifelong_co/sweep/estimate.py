"""How long a sweep will take: an estimate from what its runs took, or from a few timed steps."""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config import Config, to_toml
from lifelong_co.errors import ConfigError
from lifelong_co.files import write_whole
from lifelong_co.sweep.engines import ONE_THREAD
from lifelong_co.sweep.plan import Job, Plan
from lifelong_co.tasks import Task

Kind = tuple[str, str, str, int, int]
"""Problem, solver, method, size and batch size: what the time of a step depends on."""


def kind(config: Config, task: Task) -> Kind:
    """Return the kind of steps of a task."""
    return (config.problem, config.solver, config.method, task.size, task.batch_size)


def epochs_logged(job: Job) -> dict[int, list[float]]:
    """Return the seconds of every finished epoch by task, from 0; a log that is torn tells less."""
    found: dict[int, list[float]] = {}
    try:
        lines = (job.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines:
            entry = json.loads(line)
            found.setdefault(int(entry["learning"]) - 1, []).append(float(entry["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):
        return found
    return {task: seconds for task, seconds in found.items() if task < len(job.config.tasks)}


@attrs.frozen
class Timing:
    """Seconds of steps, of testing one instance, and of what a run takes besides."""

    steps: dict[Kind, float] = attrs.field(factory=dict)
    tests: dict[Kind, float] = attrs.field(factory=dict)
    besides: float = 0.0
    """Seconds of starting a run and of its report."""

    def seconds(self, job: Job, *, shared: bool) -> float:
        """Return the seconds that are left of a job; ``shared``: its first part is done for it."""
        done = {task: len(seconds) for task, seconds in epochs_logged(job).items()}
        if shared and not job.begun:
            done[0] = job.config.tasks[0].epochs - 1
        total = self.besides
        tasks = job.config.tasks
        for index, task in enumerate(tasks):
            left = task.epochs - done.get(index, 0)
            total += left * task.batches * _of(self.steps, kind(job.config, task))
            if left > 0:  # after the task all are tested, on the way those learned
                on_the_way = max(0, math.ceil(left / job.config.curve_every) - 1)
                for j, tested in enumerate(tasks):
                    times = 1 + (on_the_way if j <= index else 0)
                    of_one = _of(self.tests, kind(job.config, tested))
                    total += times * job.config.tests * of_one
        return total


def _of(known: dict[Kind, float], wanted: Kind) -> float:
    """Return the time of a kind, or of the kind most alike, or 0 if nothing is known."""
    alike = [value for key, value in known.items() if key[:3] == wanted[:3]] or list(known.values())
    return known.get(wanted, statistics.fmean(alike) if alike else 0.0)


def timing(plan: Plan, cache: Path | None) -> Timing:
    """Return what the runs' logs tell, and for what they do not a few timed steps.

    Parameters
    ----------
    plan
        A sweep.
    cache
        File in which timed steps are kept, or None: they are not.

    Raises
    ------
    ConfigError
        If a run cannot take even a few steps; the message is the run's.
    """
    logged = steps_logged(plan)
    steps, tests, besides = _read(cache)
    left = [job for job in (*plan.shared.values(), *plan.jobs.values()) if not job.finished]
    kinds = {kind(job.config, task): job for job in left for task in job.config.tasks}
    missing = {wanted: job for wanted, job in kinds.items() if wanted not in steps}
    if any(wanted not in logged for wanted in missing):
        fresh = _calibrate(missing)
        steps, tests = {**steps, **fresh.steps}, {**tests, **fresh.tests}
        besides = fresh.besides
        if cache is not None:
            rows = [[*key, steps[key], tests[key]] for key in steps if key in tests]
            write_whole(cache, json.dumps({"besides": besides, "kinds": rows}))
    return Timing({**steps, **logged}, tests, besides)


def steps_logged(plan: Plan) -> dict[Kind, float]:
    """Return the mean seconds of a step of each kind that a run has finished an epoch of."""
    found: dict[Kind, list[float]] = {}
    for job in (*plan.shared.values(), *plan.jobs.values()):
        for index, seconds in epochs_logged(job).items():
            task = job.config.tasks[index]
            each = [epoch / task.batches for epoch in seconds]
            found.setdefault(kind(job.config, task), []).extend(each)
    return {key: statistics.fmean(values) for key, values in found.items()}


def _read(cache: Path | None) -> tuple[dict[Kind, float], dict[Kind, float], float]:
    try:
        data = json.loads(cache.read_text(encoding="utf-8")) if cache is not None else {}
        rows = data.get("kinds", [])
        return (
            {(a, b, c, n, batch): float(step) for a, b, c, n, batch, step, _ in rows},
            {(a, b, c, n, batch): float(test) for a, b, c, n, batch, _, test in rows},
            float(data.get("besides", 0.0)),
        )
    except (OSError, ValueError, AttributeError, TypeError):  # only an estimate hangs on it
        return {}, {}, 0.0


def _calibrate(missing: dict[Kind, Job]) -> Timing:
    """Take a few steps of every problem, solver and method that has a kind missing."""
    configs: dict[tuple[str, ...], Config] = {}
    for wanted, job in missing.items():
        task = next(task for task in job.config.tasks if kind(job.config, task) == wanted)
        config = configs.setdefault(wanted[:3], attrs.evolve(job.config, tasks=()))
        configs[wanted[:3]] = attrs.evolve(config, tasks=(*config.tasks, task))
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "lifelong_co.sweep.calibration"],
        input=json.dumps([to_toml(config) for config in configs.values()]),
        capture_output=True,
        text=True,
        env={**os.environ, **ONE_THREAD},
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ConfigError(f"no estimate: a few steps of a run failed ({last})")
    found: Iterable[list[dict[str, Any]]] = json.loads(done.stdout)
    steps: dict[Kind, float] = {}
    tests: dict[Kind, float] = {}
    for (problem, solver, method), rows in zip(configs, found, strict=True):
        for row in rows:
            key = (problem, solver, method, row["size"], row["batch_size"])
            steps[key], tests[key] = row["step"], row["test"]
    # Nearly all of it is what each run begins with, too: imports.
    return Timing(steps, tests, (time.perf_counter() - began) / (1 + len(configs)))


def remaining(plan: Plan, known: Timing) -> dict[str, float]:
    """Return the seconds that are left of every run that is not finished, shared parts first."""
    shared = {
        name: known.seconds(job, shared=False)
        for name, job in plan.shared.items()
        if not job.finished and any(
            run.first == name and not run.begun for run in plan.jobs.values()
        )
    }  # fmt: skip
    runs = {
        name: known.seconds(job, shared=bool(job.first))
        for name, job in plan.jobs.items()
        if not job.finished
    }
    return {**shared, **runs}


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
