"""A few timed steps of each kind of run, to estimate the time of a sweep."""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import attrs
from torch import Tensor

from lifelong_co.config.run_config import Config, from_toml
from lifelong_co.evaluation import mean_cost
from lifelong_co.learner import learn
from lifelong_co.runs.run import Run
from lifelong_co.tasks.task import unique_labels

# Steps of each task; the first, which also warms up, does not count.
STEPS = 3
TESTS = 16


def shortened(config: Config) -> Config:
    """Return a run of a few steps on every kind of task of a run.

    The first kind comes twice, as there is nothing to replay yet when it comes first.
    """
    kinds = {(task.distribution, task.size, task.batch_size): task for task in config.tasks}
    tasks = [*list(kinds.values())[:1], *kinds.values()]
    short = tuple(attrs.evolve(task, epochs=1, batches=STEPS, name="") for task in tasks)
    return attrs.evolve(
        config,
        tasks=unique_labels(short),
        tests=min(config.tests, TESTS),
        start_from="",
        buffer_from="",
    )


def measure(config: Config, folder: Path) -> list[dict[str, Any]]:
    """Return seconds of a step (``step``) and of a test instance (``test``) for every task."""
    short = shortened(config)
    marks: list[list[float]] = [[] for _ in short.tasks]

    def watch(run: Run, losses: dict[str, Tensor]) -> None:
        float(losses["cost"])  # waits for the device
        marks[run.learner.task].append(time.perf_counter())

    run = learn(short, folder, watch=watch)
    rows = []
    for index in range(1, len(short.tasks)):
        task, times = short.tasks[index], marks[index]
        began = time.perf_counter()
        mean_cost(run.learner.solver, run.tests[index], augment=config.augment)
        rows.append(
            {
                "size": task.size,
                "batch_size": task.batch_size,
                "step": (times[-1] - times[0]) / (len(times) - 1),
                "test": (time.perf_counter() - began) / short.tests,
            }
        )
    return rows


def main() -> None:
    """Measure what comes in on standard input."""
    texts = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        found = [
            measure(from_toml(text), Path(folder) / str(index)) for index, text in enumerate(texts)
        ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
