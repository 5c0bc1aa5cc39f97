"""A program that resumes a run several times and kills it with SIGKILL, except the last time.

``python killed_runs.py FOLDER KIND:NUMBER...``: the folder contains the run's configuration.
``learning:5`` kills a run after its fifth training step. ``saving:5`` kills it just before a save
flushes or renames a file for the fifth time. Both count from the point where the run resumes.

``python killed_runs.py FOLDER every`` starts the run again and again, each time in a new folder
``FOLDER-1``, ``FOLDER-2``, …: run N is killed just before its flush or renaming N, then resumed. It
ends with the first run that comes to its end before the kill.

Each attempt is a fork of this process, which has imported everything and computed nothing. So a
dozen attempts take little more time than one.
"""

import itertools
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy.ctypeslib
import numpy.random  # noqa: F401 - each fork would import both

from lifelong_co import registry
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run


def main() -> None:
    """Print for each attempt the output of the run, the moment of the kill, and the end."""
    folder = Path(sys.argv[1])
    registry.components()
    if sys.argv[2:] == ["every"]:
        every(folder)
        return
    for moment in [*sys.argv[2:], "never:0"]:
        print(f"ended {forked(folder, moment)}")


def every(folder: Path) -> None:
    """Kill a run before each of its writes, and resume it."""
    killed = -signal.SIGKILL
    for number in itertools.count(1):
        place = folder.with_name(f"{folder.name}-{number}")
        shutil.copytree(folder, place)
        if forked(place, f"saving:{number}") != killed:
            return
        print(f"ended {forked(place, 'never:0')}")


def forked(folder: Path, moment: str) -> int:
    """Make an attempt in a fork of this process and return its exit status."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        kind, _, number = moment.partition(":")
        attempt(folder, kind, int(number))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def attempt(folder: Path, kind: str, number: int) -> None:
    """Resume the run, and kill it when an event of the kind has happened ``number`` times."""
    task = 0
    happened: Counter[str] = Counter()

    def tick(now: str) -> None:
        happened[now] += 1
        if now == kind and happened[now] == number:
            print(f"killed {now} in task {task}", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    def stepped(run: Run, losses: dict[str, float]) -> None:  # noqa: ARG001
        nonlocal task
        task = run.learner.task + 1
        tick("learning")

    def fatal(act: Callable[..., Any]) -> Callable[..., Any]:
        def acted(*arguments: Any) -> Any:
            tick("saving")
            return act(*arguments)

        return acted

    os.fsync, os.replace = fatal(os.fsync), fatal(os.replace)
    config = RunFolder(folder).config()
    learn(prepare(config, folder, resume=True, log=say), on_step=stepped, log=say)


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
