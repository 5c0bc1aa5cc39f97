"""Conducts a benchmark: results of the same weights and files are kept, the rest is solved."""

import time
from collections.abc import Callable, Iterator, Sequence

import attrs

from lifelong_co.experiments.benchmark.known import as_now
from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.experiments.references.subject import of_file
from lifelong_co.instance_files.solve import best_each, room
from lifelong_co.instance_files.vrplib_instances import FileInstance
from lifelong_co.protocols import Solver


@attrs.frozen(eq=False)
class Entrant:
    """A solver that takes part."""

    label: str
    solver: Solver
    weights: str
    """As `trained.fingerprint` returns it."""


@attrs.frozen(kw_only=True)
class How:
    """How instances are solved."""

    as_paper: bool = False
    augment: bool = False
    at_once: int | None = None
    """As for `solving.best_each`."""
    batch: int = 1
    """So many instances of one size together, if `solving.room` has place for them."""


def conduct(
    instances: Sequence[FileInstance],
    entrants: Sequence[Entrant],
    done: Sequence[Result],
    how: How,
    *,
    keep: Callable[[Sequence[Result]], None],
    log: Callable[[str], None],
) -> list[Result]:
    """Solve every instance by every entrant and return all results, instance by instance.

    Parameters
    ----------
    done
        What an earlier call has found; those that are `valid` are not solved again.
    keep
        Called with all results so far after each batch, and at the end.
    log
        Called with a line for each result, and for results that are no longer valid.
    """
    kept = valid(done, instances, entrants, log)
    found = {(one.instance, one.solver): one for one in kept}
    for group in groups(instances, how.batch):
        for entrant in entrants:
            missing = [one for one in group if (one.name, entrant.label) not in found]
            most = room(entrant.solver, group[0].size, how.at_once)
            for start in range(0, len(missing), most):
                for one in solve(missing[start : start + most], entrant, how):
                    found[one.instance, one.solver] = one
                    each = f" each, {one.batch} together" if one.batch > 1 else ""
                    log(
                        f"{one.instance}: {one.solver}: cost {one.cost} ({one.seconds:.1f} s{each})"
                    )
                keep(_ordered(list(found.values()), instances, entrants))
    results = _ordered(list(found.values()), instances, entrants)
    keep(results)
    return as_now(results, instances)  # of the tables alone: what is known may be withdrawn


def valid(
    done: Sequence[Result],
    instances: Sequence[FileInstance],
    entrants: Sequence[Entrant],
    log: Callable[[str], None],
) -> list[Result]:
    """Return the results of the same weights and files; log how many others there are.

    A result of a file that is not among ``instances`` is kept: its size may be excluded now.
    """
    weights = {entrant.label: entrant.weights for entrant in entrants}
    keys = {one.name: of_file(one).key for one in instances}
    kept: list[Result] = []
    reasons: dict[str, int] = {}
    for one in done:
        if one.weights != weights.get(one.solver):
            reason = f"{one.solver}: has other weights now"
        elif one.instance_key != keys.get(one.instance, one.instance_key):
            reason = f"{one.instance}: the file holds something else now"
        else:
            kept.append(one)
            continue
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        log(f"{reason}; {count} result{'s' * (count > 1)} dropped")
    return kept


def groups(instances: Sequence[FileInstance], most: int) -> Iterator[list[FileInstance]]:
    """Yield up to ``most`` instances of one size together, sizes in the order they first occur."""
    alike: dict[int, list[FileInstance]] = {}
    for one in instances:
        alike.setdefault(one.size, []).append(one)
    for several in alike.values():
        for start in range(0, len(several), most):
            yield several[start : start + most]


def solve(instances: Sequence[FileInstance], entrant: Entrant, how: How) -> list[Result]:
    """Return the results of instances of one size, solved in one batch."""
    begin = time.perf_counter()
    found = best_each(
        entrant.solver,
        instances,
        as_paper=how.as_paper,
        augment=how.augment,
        at_once=how.at_once,
    )
    seconds = round((time.perf_counter() - begin) / len(instances), 3)
    return [
        Result(
            instance=one.name,
            size=one.size,
            best_known=one.best_known,
            solver=entrant.label,
            cost=best.cost,
            length=best.length,
            seconds=seconds,
            batch=len(instances),
            instance_key=of_file(one).key,
            weights=entrant.weights,
        )
        for one, best in zip(instances, found, strict=True)
    ]


def _ordered(
    results: Sequence[Result], instances: Sequence[FileInstance], entrants: Sequence[Entrant]
) -> list[Result]:
    """Return results in the order of the instances, then of the entrants; left-out files last."""
    places = {one.name: k for k, one in enumerate(instances)}
    columns = {entrant.label: k for k, entrant in enumerate(entrants)}

    def place(one: Result) -> tuple[int, int, str, int]:
        return places.get(one.instance, len(places)), one.size, one.instance, columns[one.solver]

    return sorted(results, key=place)
