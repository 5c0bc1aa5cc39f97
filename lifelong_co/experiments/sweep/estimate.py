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

from lifelong_co import registry
from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.engines import ONE_THREAD
from lifelong_co.experiments.sweep.kinds import Kind, kind, time_of
from lifelong_co.experiments.sweep.logs import epochs_logged
from lifelong_co.experiments.sweep.plan import Job, Plan
from lifelong_co.storage.files import write_whole


@attrs.frozen
class Timing:
    """Seconds of steps, of testing one instance, and of what a run takes besides."""

    steps: dict[Kind, float] = attrs.field(factory=dict)
    tests: dict[Kind, float] = attrs.field(factory=dict)
    besides: float = 0.0
    """Seconds of starting a run and of its report."""

    def seconds(self, job: Job) -> float:
        """Return the seconds that are left of a job, without the parts that others do for it."""
        logged = epochs_logged(job.folder, len(job.config.tasks))
        done = {task: len(seconds) for task, seconds in logged.items()}
        done.update({task: job.config.tasks[task].epochs - 1 for task in job.due})
        total = self.besides
        tasks = job.config.tasks
        restarts = registry.method(job.config.method, **job.config.method_options).restarts
        for index, task in enumerate(tasks):
            left = task.epochs - done.get(index, 0)
            total += left * task.batches * time_of(self.steps, kind(job.config, task))
            if left > 0:  # after the task all are tested, on the way those learned
                on_the_way = max(0, math.ceil(left / job.config.curve_every) - 1)
                for j, tested in enumerate(tasks):
                    also = j == index if restarts else j <= index
                    times = 1 + (on_the_way if also else 0)
                    of_one = time_of(self.tests, kind(job.config, tested))
                    total += times * job.config.tests * of_one
        return total


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
    kept = Timing() if cache is None else read_timing(cache)
    left = [job for job in (*plan.shared.values(), *plan.jobs.values()) if not job.finished]
    kinds = {kind(job.config, task): job for job in left for task in job.config.tasks}
    missing = {wanted: job for wanted, job in kinds.items() if wanted not in kept.steps}
    if any(wanted not in logged for wanted in missing):
        fresh = _calibrate(missing)
        kept = Timing({**kept.steps, **fresh.steps}, {**kept.tests, **fresh.tests}, fresh.besides)
        if cache is not None:
            write_timing(cache, kept)
    return attrs.evolve(kept, steps={**kept.steps, **logged})


def steps_logged(plan: Plan) -> dict[Kind, float]:
    """Return the mean seconds of a step of each kind that a run has finished an epoch of."""
    found: dict[Kind, list[float]] = {}
    for job in (*plan.shared.values(), *plan.jobs.values()):
        for index, seconds in epochs_logged(job.folder, len(job.config.tasks)).items():
            task = job.config.tasks[index]
            each = [epoch / task.batches for epoch in seconds]
            found.setdefault(kind(job.config, task), []).extend(each)
    return {key: statistics.fmean(values) for key, values in found.items()}


def write_timing(cache: Path, known: Timing) -> None:
    """Keep timed steps in a file, for `read_timing`."""
    rows = [
        [*attrs.astuple(key), known.steps[key], known.tests[key]]
        for key in known.steps
        if key in known.tests
    ]
    write_whole(cache, json.dumps({"besides": known.besides, "kinds": rows}))


def read_timing(cache: Path) -> Timing:
    """Return timed steps that were kept; none if the file is missing, torn or another version's."""
    try:
        data = json.loads(cache.read_text(encoding="utf-8"))
        rows = {Kind(*key): (float(step), float(test)) for *key, step, test in data["kinds"]}
        return Timing(
            {key: step for key, (step, _) in rows.items()},
            {key: test for key, (_, test) in rows.items()},
            float(data["besides"]),
        )
    except (OSError, ValueError, KeyError, TypeError):  # only an estimate hangs on it
        return Timing()


def _calibrate(missing: dict[Kind, Job]) -> Timing:
    """Take a few steps of every kind that is missing; those that differ in size share a run."""
    configs: dict[Kind, Config] = {}
    for wanted, job in missing.items():
        task = next(task for task in job.config.tasks if kind(job.config, task) == wanted)
        sized = attrs.evolve(wanted, size=0, batch_size=0)
        config = configs.setdefault(sized, attrs.evolve(job.config, tasks=()))
        configs[sized] = attrs.evolve(config, tasks=(*config.tasks, task))
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "lifelong_co.experiments.sweep.calibration"],
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
    for sized, rows in zip(configs, found, strict=True):
        for row in rows:
            key = attrs.evolve(sized, size=row["size"], batch_size=row["batch_size"])
            steps[key], tests[key] = row["step"], row["test"]
    # Nearly all of it is what each run begins with, too: imports.
    return Timing(steps, tests, (time.perf_counter() - began) / (1 + len(configs)))


def remaining(plan: Plan, known: Timing) -> dict[str, float]:
    """Return the seconds that are left of every run that is not finished, shared parts first."""
    left = {name: job for name, job in plan.jobs.items() if not job.finished}
    needed = {part for job in left.values() for part in job.due.values()}
    shared = {
        name: known.seconds(job)
        for name, job in plan.shared.items()
        if name in needed and not job.finished
    }
    runs = {name: known.seconds(job) for name, job in left.items()}
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
