"""Carries out a plan: every run once, and as many runs at once as there are slots.

A run that dies is resumed. A sweep that was killed reads the folders of its runs and continues.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs

from lifelong_co.errors import FINAL, ConfigError, FileFormatError, Interrupted, LifelongError
from lifelong_co.experiments.sweep.engines import Engine, Handle, RefusedError
from lifelong_co.experiments.sweep.estimate import logged, taken_by
from lifelong_co.experiments.sweep.job import Job
from lifelong_co.experiments.sweep.plan import Plan
from lifelong_co.runs import starts
from lifelong_co.storage import lock
from lifelong_co.storage.files import TEMPORARY, refuse_unwritable

RETRIES = 2
"""How often a run is resumed after it died without a new checkpoint."""
PAUSE = 0.2  # seconds between two checks of the runs
LATER = 60
"""Seconds until a scheduler that refused a job is asked again."""
REFUSALS = 3
"""How often it may refuse after the last job has ended, which can stay in its queue for a while."""


def refuse_other_content(folder: Path) -> None:
    """Refuse a folder that cannot be written or holds something else than a sweep.

    Raises
    ------
    ConfigError
        If the folder, which may not exist yet, is such a folder.
    """
    refuse_unwritable(folder)
    if not folder.exists() or (folder / "sweep.toml").exists():
        return
    for path in folder.iterdir():
        # A sweep that was killed at its start leaves a lock and temporary files.
        if path.name not in (lock.FILE, "runs", "logs") and not TEMPORARY.fullmatch(path.name):
            raise ConfigError(
                f"{folder}: expected a new or empty folder, or that of a sweep, got one with"
                f" {path.name}; choose another folder"
            )


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Lock a sweep's folder and yield the file descriptor of the lock; create a missing folder.

    Runs inherit the lock: if only the sweep dies, the folder stays locked until its runs have
    ended. So no other sweep can change their folders in the meantime.

    Raises
    ------
    ConfigError
        If another sweep has locked the folder, or it cannot be written.
    """
    refusal = (
        f"{folder}: another sweep, or a run of an earlier sweep, is still working in this folder;"
        " wait for it or stop it"
    )
    with lock.locked(folder, refusal) as descriptor:
        yield descriptor


@attrs.define
class _Work:
    """A plan in progress."""

    plan: Plan
    engine: Engine
    retries: int
    log: Callable[[str], None]
    time_left: Callable[[Mapping[str, float]], str]
    done: dict[str, float]
    """The seconds of training of each finished run."""
    waiting: list[Job] = attrs.field(factory=list)
    running: dict[str, Handle] = attrs.field(factory=dict)
    failed: dict[str, str] = attrs.field(factory=dict)
    deaths: Counter[str] = attrs.field(factory=Counter)
    progress: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    starts: dict[str, str] = attrs.field(factory=dict)
    """The hash of each start that runs have begun from, by path."""
    patience: int = 0
    """How often the engine may still refuse a run while none is in progress."""
    again: float = -math.inf
    """When the engine is asked again after it refused a run."""

    def look(self) -> bool:
        """Handle the runs that have ended; return whether there were any."""
        before = len(self.running)
        for name, handle in list(self.running.items()):
            status = handle.poll()
            if status is not None:
                del self.running[name]
                self.settle(self.plan.jobs[name], status)
        return len(self.running) < before

    def settle(self, job: Job, status: int) -> None:
        """Record the end of a run, and queue it again if it died."""
        if job.finished:
            self.done[job.name] = logged(job.folder)
            count = f"{len(self.done)} of {len(self.plan.jobs)}"
            self.log(f"finished {job.name} ({count}{self.time_left(self.done)})")
            return
        now = _saved(job)
        self.deaths[job.name] += 1
        if now != self.progress.get(job.name, ()):
            self.deaths[job.name] = 0
        self.progress[job.name] = now
        how = f"signal {-status}" if status < 0 else f"status {status}"
        said = _last_line(log_of(self.plan.folder, job))
        if status in FINAL or self.deaths[job.name] > self.retries:
            self.failed[job.name] = f"{how}: {said}"
            self.log(f"failed {job.name} ({self.failed[job.name]})")
        else:
            self.log(f"{job.name} ended with {how}; resuming it")
            self.waiting.insert(0, job)

    def launch(self, stop: Callable[[], bool]) -> None:
        """Start waiting runs in the free slots, until ``stop`` returns True."""
        while len(self.running) < self.engine.slots and self.waiting and not stop():
            if time.monotonic() < self.again:
                return
            job = self.waiting.pop(0)
            try:
                job.prepare(self.starts)
            except LifelongError as error:
                self.failed[job.name] = str(error)
                self.log(f"failed {job.name} ({error})")
                continue
            self.progress.setdefault(job.name, _saved(job))
            file = log_of(self.plan.folder, job)
            file.parent.mkdir(exist_ok=True)
            try:
                handle = self.engine.submit(["run", "--resume", str(job.folder)], file)
            except RefusedError as error:
                if not self.running:
                    if not self.patience:
                        raise
                    self.patience -= 1
                self.waiting.insert(0, job)
                self.again = time.monotonic() + LATER
                self.log(f"{error}; trying again in {LATER} seconds")
                return
            self.running[job.name] = handle
            self.patience = REFUSALS


def _saved(job: Job) -> tuple[str, ...]:
    """Return the names of the checkpoints of a run: others after a while mean progress."""
    return tuple(sorted(path.name for path in (job.folder / "checkpoints").glob("checkpoint-*")))


def conduct(
    plan: Plan,
    engine: Engine,
    *,
    retries: int = RETRIES,
    stop: Callable[[], bool] = lambda: False,
    log: Callable[[str], None] = lambda line: None,  # noqa: ARG005
    time_left: Callable[[Mapping[str, float]], str] = lambda finished: "",  # noqa: ARG005
) -> dict[str, str]:
    """Finish all unfinished runs of a plan.

    Parameters
    ----------
    plan
        This process must hold the lock of its folder (`locked`).
    engine
        Starts the runs.
    retries
        How often a run is resumed after it died without a new checkpoint, at least 0.
    stop
        Called in every pause. If it returns True, the runs save and stop, and `Interrupted` is
        raised.
    log
        Called with a line of text for each run that ends.
    time_left
        Called with the seconds of training of each finished run. Returns a text about the
        remaining time, which is added to that line.

    Returns
    -------
    The reason by the name of each job that failed.

    Raises
    ------
    ConfigError
        If a finished run has another configuration.
    Interrupted
        If ``stop`` returned True.
    RefusedError
        If a scheduler takes not even the first job, or for `REFUSALS` times none after the last
        one has ended.
    """
    work = _Work(plan, engine, retries, log, time_left, taken_by(plan))
    for name in work.done:
        plan.jobs[name].prepare()  # raises if the folder holds another run
    for job in plan.jobs.values():
        with suppress(FileFormatError):  # then this run alone fails
            for setting, known in starts.read(job.folder).items():
                work.starts.setdefault(getattr(job.config, setting, ""), known)
    work.waiting = [job for name, job in plan.jobs.items() if name not in work.done]
    try:
        while work.running or work.waiting:
            if stop():
                for handle in work.running.values():
                    handle.stop()
                while any(handle.poll() is None for handle in work.running.values()):
                    time.sleep(PAUSE)
                raise Interrupted(plan.folder)
            ended = work.look()
            work.launch(stop)
            if not ended:
                time.sleep(PAUSE)
    except BaseException:
        for handle in work.running.values():
            if handle.poll() is None:
                handle.kill()  # their checkpoints stay
        raise
    return work.failed


def log_of(folder: Path, job: Job) -> Path:
    """Return the log file of a job, with everything that it prints."""
    return folder / "logs" / f"{job.name}.log"


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return "no log"
    said = [line for line in lines if line.strip()]
    return said[-1].strip() if said else f"nothing in {log}"
