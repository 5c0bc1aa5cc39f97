"""Conducts a benchmark: keeps results of the same weights and files, and solves the rest."""

import time
from collections.abc import Callable, Iterator, Sequence

import attrs

from lifelong_co.evaluation import named_test
from lifelong_co.experiments.benchmark.answer import nearest
from lifelong_co.experiments.benchmark.known import as_now
from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.experiments.references.subject import of_file
from lifelong_co.instance_files.closed_routes import refuse_other_costs
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.solve import best_each, room
from lifelong_co.protocols import Solver


@attrs.frozen(eq=False)
class Entrant:
    """A solver that takes part."""

    label: str
    solver: Solver
    weights: str
    """Hash of the solver (`trained_solver.fingerprint`)."""


@attrs.frozen(kw_only=True)
class How:
    """How instances are solved."""

    as_paper: bool = False
    """As for `solve.best_each`, like the next two."""
    augment: bool = False
    at_once: int | None = None
    batch: int = 1
    """Highest number of instances of one size that are solved together (see `solve.room`)."""


def conduct(
    instances: Sequence[FileInstance],
    entrants: Sequence[Entrant],
    done: Sequence[Result],
    how: How,
    *,
    keep: Callable[[Sequence[Result]], None],
    log: Callable[[str], None],
) -> list[Result]:
    """Solve every instance with every entrant and return their results, instance by instance.

    Parameters
    ----------
    instances, entrants
        The instances and the solvers.
    done
        Results of an earlier call; the `valid` ones are kept and not computed again.
    how
        How instances are solved.
    keep
        Called with all results so far, after each batch and at the end; those of files that are
        not in ``instances`` come last.
    log
        Called with a line for each result, and for results that are no longer valid.
    """
    kept = valid(done, instances, entrants, log)
    found = {(one.instance, one.solver): one for one in kept}
    simple = {one.instance: one.nearest_neighbor for one in kept if one.nearest_neighbor}
    for group in groups(instances, how.batch):
        for entrant in entrants:
            missing = [one for one in group if (one.name, entrant.label) not in found]
            most = room(entrant.solver, group[0].size, how.at_once)
            for start in range(0, len(missing), most):
                part = missing[start : start + most]
                for instance in part:
                    if instance.name not in simple:
                        refuse_other_costs(instance, entrant.solver.problem)
                        simple[instance.name] = nearest(instance, entrant.solver.problem)[0]
                for one in solve(part, entrant, how):
                    one = attrs.evolve(one, nearest_neighbor=simple[one.instance])
                    found[one.instance, one.solver] = one
                    each = f" each, {one.batch} together" if one.batch > 1 else ""
                    log(
                        f"{one.instance}: {one.solver}: cost {one.cost:.10g}"
                        f" ({one.seconds:.1f} s{each})"
                    )
                keep(_ordered(list(found.values()), instances, entrants))
    results = as_now(_ordered(list(found.values()), instances, entrants), instances)
    keep(results)
    names = {one.name for one in instances}
    shown = [one for one in results if one.instance in names]
    if others := len(results) - len(shown):
        log(f"stored results of files that are not in this call: {others}; they are not shown")
    return shown


def valid(
    done: Sequence[Result],
    instances: Sequence[FileInstance],
    entrants: Sequence[Entrant],
    log: Callable[[str], None],
) -> list[Result]:
    """Return the results with the same weights and files; log the number of all others.

    A result of a file that is not in ``instances`` is kept: this call may only exclude its size.
    """
    weights = {entrant.label: entrant.weights for entrant in entrants}
    keys = {one.name: of_file(one).key for one in instances}
    kept: list[Result] = []
    reasons: dict[str, int] = {}
    for one in done:
        if one.weights != weights.get(one.solver):
            reason = f"{one.solver}: the weights have changed"
        elif one.instance_key != keys.get(one.instance, one.instance_key):
            reason = f"{one.instance}: the content of the file has changed"
        else:
            kept.append(one)
            continue
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        log(f"{reason}; {count} result{'s' * (count > 1)} dropped")
    return kept


def groups(instances: Sequence[FileInstance], most: int) -> Iterator[list[FileInstance]]:
    """Yield groups of up to ``most`` instances of one size."""
    alike: dict[int, list[FileInstance]] = {}
    for one in instances:
        alike.setdefault(one.size, []).append(one)
    for several in alike.values():
        for start in range(0, len(several), most):
            yield several[start : start + most]


def solve(instances: Sequence[FileInstance], entrant: Entrant, how: How) -> list[Result]:
    """Return the results of instances of one size, solved in one batch."""
    begin = time.perf_counter()
    with named_test(f"{entrant.label} on {', '.join(one.name for one in instances)}"):
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
    """Return results in the order of instances and entrants; those of other files come last."""
    places = {one.name: k for k, one in enumerate(instances)}
    columns = {entrant.label: k for k, entrant in enumerate(entrants)}

    def place(one: Result) -> tuple[int, int, str, int]:
        return places.get(one.instance, len(places)), one.size, one.instance, columns[one.solver]

    return sorted(results, key=place)
