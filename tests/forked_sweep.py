"""A program that does sweeps with forks of itself: twelve runs take little more time than one.

``python forked_sweep.py FILE.toml KILLED WHOLE`` sweeps FILE in the folder KILLED, kills the sweep
and its runs with SIGKILL in the middle of a run, starts the sweep again, and sweeps FILE in WHOLE.
It prints the number of finished runs at the kill, and the output of each sweep.

Before it forks, the process has imported everything and computed nothing, as in `killed_runs`.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy.ctypeslib
import numpy.random  # noqa: F401 - each fork would import both

from lifelong_co import registry
from lifelong_co.experiments.sweep import table
from lifelong_co.experiments.sweep.conduct import conduct, locked
from lifelong_co.experiments.sweep.grid import read_grids
from lifelong_co.experiments.sweep.plan import Plan, make_plan
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.storage.files import write_whole

FINISHED = 3  # runs, when the sweep is killed


class Fork:
    """A run in a fork."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status; None while it runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status

    def stop(self) -> None:
        """Send the signal to stop."""
        os.kill(self.pid, signal.SIGTERM)

    kill = stop


class Forks:
    """A sweep's engine that starts its runs as forks."""

    slots = 2

    def submit(self, arguments: Sequence[str], log: Path) -> Fork:
        """Start a run."""
        return Fork(fork(lambda: run(Path(arguments[-1])), log))


def run(folder: Path) -> None:
    """Do what `lifelong-co run --resume` does, without drawing the report."""
    learn(prepare(RunFolder(folder).config(), folder, resume=True, log=print), log=print)
    write_whole(folder / "report.html", "")


def fork(act: Callable[[], None], log: Path | None = None) -> int:
    """Call a function in a fork of this process; the fork ends with status 0 if it succeeds."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        if log is not None:
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
        status = 1
        try:
            act()
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
    return child


def plan_of(file: Path, folder: Path) -> Plan:
    """Return the plan of a sweep file."""
    return make_plan(read_grids(file), folder)


def sweep(file: Path, folder: Path) -> None:
    """Carry out a sweep as the command line does."""
    plan = plan_of(file, folder)
    with locked(folder):
        failed = conduct(plan, Forks(), log=lambda line: print(line, flush=True))
        assert not failed, failed
        write_whole(folder / "table.txt", table.as_text(table.gather(plan)))
        write_whole(folder / "table.csv", table.as_csv(table.gather(plan)))


def killed(file: Path, folder: Path) -> None:
    """Start a sweep in a new process group and kill the group in the middle."""

    def alone() -> None:
        os.setpgid(0, 0)
        sweep(file, folder)

    child = fork(alone)
    plan = plan_of(file, folder)
    while True:
        done = sum(job.finished for job in plan.jobs.values())
        busy = any(job.begun and not job.finished for job in plan.jobs.values())
        if done >= FINISHED and busy:
            break
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(f"killed after {done} of {len(plan.jobs)}", flush=True)


def main() -> None:
    """Do what the module says."""
    file, first, second = map(Path, sys.argv[1:])
    registry.components()
    killed(file, first)
    for folder in (first, second):
        _, status = os.waitpid(fork(lambda folder=folder: sweep(file, folder)), 0)  # type: ignore[misc]
        print(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
