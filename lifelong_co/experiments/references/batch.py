"""Finding the references of many instances in parallel; each is stored as soon as it is found."""

import multiprocessing
import operator
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import attrs
import numpy as np

from lifelong_co.errors import LifelongError
from lifelong_co.experiments.references.cache import Cache, Reference
from lifelong_co.experiments.references.subject import Subject
from lifelong_co.reference_solvers.contract import Found, ReferenceModel, Settings


class SolverError(LifelongError):
    """A solver died, or its result does not solve the instance."""


def find(
    subjects: Iterable[Subject],
    cache: Cache,
    settings: Settings,
    *,
    jobs: int = 1,
    again: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Subject, Reference | None, bool]]:
    """Yield subject, reference and whether it was solved now, in the order of completion.

    Parameters
    ----------
    subjects
        The instances whose references are needed.
    cache
        The folder of references: known ones are read from it, new ones are stored in it.
    settings
        The effort of the solvers.
    jobs
        Number of processes; with 1 this process solves.
    again
        Solve also instances with a reference in the cache, unless it is proven optimal. The
        better reference is kept.
    stop
        Called between results. When it returns True, instances in progress are finished and no
        others are started.

    Yields
    ------
    The reference is None if no feasible solution was found. An instance that is given twice is
    yielded once.

    Raises
    ------
    SolverError
        If a solver's process died, or its result does not solve the instance.
    """
    fresh = []
    for subject in {subject.key: subject for subject in subjects}.values():
        known = cache.get(subject.problem, subject.key)
        if known is None or (again and not known.proven):
            fresh.append(subject)
        else:
            yield subject, known, False
    found = _here(fresh, settings, stop) if jobs == 1 else _apart(fresh, settings, jobs, stop)
    for subject, solution in found:
        yield subject, _stored(subject, solution, cache), True


def _stored(subject: Subject, found: Found | None, cache: Cache) -> Reference | None:
    """Check, measure and store what a solver found."""
    if found is None:
        return cache.get(subject.problem, subject.key)
    found = _plain(subject, found)
    fault = subject.fault(found.actions)
    if fault:
        raise SolverError(f"{subject.name}: the solution of {found.solver} {fault}")
    reference = Reference(
        name=subject.name,
        size=subject.size,
        cost=subject.cost(found.actions),
        **attrs.asdict(found),
    )
    try:
        return cache.put(subject, reference)
    except TypeError as error:  # of settings, say
        raise SolverError(
            f"{subject.name}: the result of {found.solver}: expected plain data ({error})"
        ) from error


def _plain(subject: Subject, found: object) -> Found:
    """Return what a model found, which may be a plugin's, with numbers of Python."""
    if not isinstance(found, Found):
        raise SolverError(
            f"{subject.name}: the reference model of {subject.problem}: expected a Found or None,"
            f" got {found!r:.60}"
        )
    try:
        actions = [operator.index(action) for action in found.actions]
    except TypeError as error:
        raise SolverError(
            f"{subject.name}: the actions of {found.solver}: expected a list of whole numbers,"
            f" got {found.actions!r:.60}"
        ) from error
    if not isinstance(found.proven, bool | np.bool_):
        raise SolverError(
            f"{subject.name}: proven of {found.solver}: expected true or false,"
            f" got {found.proven!r:.60}"
        )
    return attrs.evolve(found, actions=actions, proven=bool(found.proven))


def _here(
    subjects: list[Subject], settings: Settings, stop: Callable[[], bool]
) -> Iterator[tuple[Subject, Found | None]]:
    for subject in subjects:
        if stop():
            return
        yield subject, solve(subject.model(), settings)


def _apart(
    subjects: list[Subject], settings: Settings, jobs: int, stop: Callable[[], bool]
) -> Iterator[tuple[Subject, Found | None]]:
    """Solve in several processes; at most twice as many instances are queued, to save memory."""
    # Spawned, because a fork of a process with torch's threads may hang.
    spawn = multiprocessing.get_context("spawn")
    waiting: dict[Future[Found | None], Subject] = {}
    rest = iter(subjects)
    pool = ProcessPoolExecutor(jobs, spawn, initializer=_leave_signals)
    try:
        while True:
            while len(waiting) < 2 * jobs and not stop() and (subject := next(rest, None)):
                waiting[pool.submit(solve, subject.model(), settings)] = subject
            if stop():  # cancel those that have not started
                waiting = {task: subject for task, subject in waiting.items() if not task.cancel()}
            if not waiting:
                return
            done, _ = wait(waiting, timeout=1, return_when=FIRST_COMPLETED)
            for task in done:
                yield waiting.pop(task), task.result()
    except BrokenProcessPool as error:  # of any call: the next one notices that a process died
        if stop():  # the signal to stop has ended the other processes, too
            return
        raise SolverError(
            "a solver's process died, perhaps because memory ran out; the references found are"
            " kept; start again with fewer jobs"
        ) from error
    finally:  # after an error nothing that waits is begun
        pool.shutdown(cancel_futures=True)


def solve(model: ReferenceModel, settings: Settings) -> Found | None:
    """Return what the model finds, in this process or in another."""
    return model.solve(settings)


def _leave_signals() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal; only the first one handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
