"""Carrying out a plan: every run once, as many at once as there are slots, whichever of them die.

A run's folder is all that a sweep knows of it: a sweep that was killed looks at the folders and
goes on.
"""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import attrs

from lifelong_co.errors import Interrupted, LifelongError
from lifelong_co.experiments.sweep.engines import Engine, Handle
from lifelong_co.experiments.sweep.plan import Job, Plan

RETRIES = 2
"""How often a run that died without getting any further is resumed."""
REFUSED = 2
"""Exit status of a run that says what is wrong with it; it would say so again."""
PAUSE = 0.2  # seconds between two looks


@attrs.define
class _Work:
    """A plan in progress."""

    plan: Plan
    engine: Engine
    retries: int
    tell: Callable[[str], None]
    time_left: Callable[[], str]
    waiting: list[Job] = attrs.field(factory=list)
    running: dict[str, Handle] = attrs.field(factory=dict)
    failed: dict[str, str] = attrs.field(factory=dict)
    deaths: Counter[str] = attrs.field(factory=Counter)
    progress: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    def look(self) -> bool:
        """Settle what has ended; return whether anything has."""
        before = len(self.running)
        for name, handle in list(self.running.items()):
            status = handle.poll()
            if status is not None:
                del self.running[name]
                self.settle(self.plan.jobs[name], status)
        return len(self.running) < before

    def settle(self, job: Job, status: int) -> None:
        """Take note of a run's end; queue it again if it died."""
        if job.finished:
            jobs = self.plan.jobs
            done = sum(each.finished for name, each in jobs.items() if name not in self.running)
            self.tell(f"finished {job.name} ({done} of {len(jobs)}{self.time_left()})")
            return
        now = tuple(sorted(path.name for path in (job.folder / "checkpoints").glob("checkpoint-*")))
        self.deaths[job.name] += 1
        if now != self.progress.get(job.name, ()):
            self.deaths[job.name] = 1
        self.progress[job.name] = now
        how = f"signal {-status}" if status < 0 else f"status {status}"
        if status == REFUSED or self.deaths[job.name] > self.retries:
            self.failed[job.name] = f"{how}: {_last_line(log_of(self.plan.folder, job))}"
            self.tell(f"failed {job.name} ({self.failed[job.name]})")
        else:
            self.tell(f"{job.name} ended with {how}; resuming it")
            self.waiting.insert(0, job)

    def launch(self) -> None:
        """Fill the free slots."""
        while len(self.running) < self.engine.slots and self.waiting:
            job = self.waiting.pop(0)
            try:
                job.prepare()
            except LifelongError as error:
                self.failed[job.name] = str(error)
                self.tell(f"failed {job.name} ({error})")
                continue
            log = log_of(self.plan.folder, job)
            log.parent.mkdir(exist_ok=True)
            self.running[job.name] = self.engine.submit(["run", "--resume", str(job.folder)], log)


def conduct(
    plan: Plan,
    engine: Engine,
    *,
    retries: int = RETRIES,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda line: None,  # noqa: ARG005
    time_left: Callable[[], str] = lambda: "",
) -> dict[str, str]:
    """Finish all runs of a plan that are not finished.

    Parameters
    ----------
    plan
        The folder is locked for this process (`lock.locked`).
    engine
        Where runs are carried out.
    retries
        How often a run that died without a checkpoint more is resumed, at least 0.
    stop
        Asked all the time; when it says so the runs save and stop, and `Interrupted` is raised.
    tell
        Told a line for each run that ends.
    time_left
        Returns what that line says about the time that is left.

    Returns
    -------
    The jobs that failed, and why.

    Raises
    ------
    ConfigError
        If a finished run was made by another configuration.
    Interrupted
        If it was asked to stop; the message says how to continue.
    """
    work = _Work(plan, engine, retries, tell, time_left)
    for job in plan.jobs.values():
        if job.finished:
            job.prepare()  # refused here if it is another run, which only bears the name
    work.waiting = [job for job in plan.jobs.values() if not job.finished]
    try:
        while work.running or work.waiting:
            if stop():
                for handle in work.running.values():
                    handle.stop()
                while any(handle.poll() is None for handle in work.running.values()):
                    time.sleep(PAUSE)
                raise Interrupted(plan.folder)
            ended = work.look()
            work.launch()
            if not ended:
                time.sleep(PAUSE)
    except BaseException:
        for handle in work.running.values():
            if handle.poll() is None:
                handle.kill()  # what they have saved stays
        raise
    return work.failed


def log_of(folder: Path, job: Job) -> Path:
    """Return the file of what a job prints."""
    return folder / "logs" / f"{job.name}.log"


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return "no log"
    said = [line for line in lines if line.strip()]
    return said[-1].strip() if said else f"nothing in {log}"
