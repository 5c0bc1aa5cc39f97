"""A program that resumes a run again and again and kills it with SIGKILL each time but the last.

``python killed_runs.py FOLDER KIND:NUMBER...``: the folder holds the run's configuration. With
``learning:5`` a run is killed after its fifth training step, with ``saving:5`` just before a save
flushes a file or puts it in its place for the fifth time, both counted from where it resumes.

Each attempt is a fork of this one process, which has imported everything but computed nothing: so
a dozen of them take little more time than one.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch._dynamo  # noqa: F401 - what the first step of an optimizer imports

from lifelong_co import registry
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run


def main() -> None:
    """Print for each attempt what the run says, when it is killed, and how it ended."""
    folder = Path(sys.argv[1])
    registry.components()
    for moment in [*sys.argv[2:], "never:0"]:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            kind, _, number = moment.partition(":")
            attempt(folder, kind, int(number))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(f"ended {os.waitstatus_to_exitcode(status)}")


def attempt(folder: Path, kind: str, number: int) -> None:
    """Resume the run; die when something of the kind has happened so many times."""
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
