"""``lifelong-co reference``: find near-optimal costs of instances and keep them."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from lifelong_co_cli import reference_options as options
from lifelong_co_cli.system import cores

DISTRIBUTIONS = ("U", "R", "E", "G", "C", "GM")


def reference(
    files: options.Files = None,
    problem: options.Problem = None,
    distribution: options.Distribution = None,
    size: options.Size = None,
    seed: options.Seed = None,
    testset: options.Testset = None,
    run: options.Run = None,
    count: options.Count = None,
    references: options.References = None,
    check: options.Check = False,
    jobs: options.Jobs = None,
    scaled: options.Scaled = False,
    stored: options.Stored = None,
    iterations: options.Iterations = 2000,
    restarts: options.Restarts = 12,
    seconds: options.Seconds = 120,
    prove: options.Prove = 100,
    again: options.Again = False,
) -> None:
    """Find near-optimal costs of instances, for gaps in tables.

    PyVRP solves CVRPs; OR-Tools CP-SAT solves TSPs with a proof. Results are
    kept in --references and found only once. You can stop at any time and start
    again. The status is 1 if an instance has none at the end. The command needs
    the extra `reference`; the documentation has a page on references.
    """
    from lifelong_co import registry
    from lifelong_co.errors import ConfigError
    from lifelong_co.experiments.references.cache import FOLDER
    from lifelong_co.storage.files import refuse_unwritable
    from lifelong_co_cli.options import check_folder, places

    given = [bool(files), distribution is not None, bool(testset), run is not None]
    if sum(given) > 1 or (sum(given) == 0 and not check):
        raise ConfigError("instances: expected one of FILE, --distribution, --testset and --run")
    for option, value in (("--size", size), ("--seed", seed)):
        if value is not None and distribution is None:
            raise ConfigError(f"{option}: expected --distribution NAME beside it")
    if scaled and not files:
        raise ConfigError("--scaled: expected FILE beside it")
    sets = list(DISTRIBUTIONS) if testset == ["all"] or sum(given) == 0 else list(testset or ())
    chosen = registry.problem(problem or "cvrp")
    check_folder(stored, "--stored")
    if check:
        check_folder(references, "--references")
    folder = references or FOLDER
    refuse_unwritable(folder)
    published = (stored,) if stored else (folder, *places().published)
    # All sources are read before the first instance is solved.
    batches = list(
        _chosen(chosen, files, distribution, size or 20, seed or 0, sets, run, count, scaled)
    )
    for source, subjects in batches if problem and (files or run) else ():
        if subjects and subjects[0].problem != problem:
            raise ConfigError(
                f"{source}: expected instances of --problem {problem}, got {subjects[0].problem}"
            )
    if check:
        raise typer.Exit(_check(batches, chosen, folder, published))
    from lifelong_co.reference_solvers import Settings
    from lifelong_co_cli.system import stop_on_signal

    for needed in {one.problem for _, subjects in batches for one in subjects}:
        registry.reference_model(needed)  # refuses a problem without one, before any work
    settings = Settings(iterations=iterations, restarts=restarts, seconds=seconds, prove=prove)
    complete = True
    with stop_on_signal() as stop:
        for name, subjects in batches:
            found = _find(name, subjects, folder, settings, jobs, again, stop)
            if stop():
                raise typer.Exit(stop.status)
            complete &= all(subject.key in found for subject in subjects)
            if name in sets:
                _compare(name, chosen, published, subjects, found)
    if not complete:
        raise typer.Exit(1)


def _chosen(
    problem: Any,
    files: Sequence[Path] | None,
    distribution: str | None,
    size: int,
    seed: int,
    sets: Sequence[str],
    run: Path | None,
    count: int | None,
    scaled: bool,
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the name and the instances of each source."""
    from lifelong_co.experiments.references import sources
    from lifelong_co.runs import data_files
    from lifelong_co.runs.folder import RunFolder

    for file in files or ():
        found = sources.from_files(file, problem, scaled=scaled, log=partial(typer.echo, err=True))
        yield str(file), found[:count]
    if distribution is not None:
        drawn = sources.from_distribution(distribution, problem, size, count or 10, seed)
        yield f"{distribution}{size}", drawn
    if run is not None:
        config = RunFolder(run).config()
        labels = [task.label for task in config.tasks]
        for line in data_files.changed_tests(data_files.read(run), config, labels):
            typer.echo(f"{line}; these are references of other instances", err=True)
        yield str(run), sources.from_run(config)[:count]
    for name in sets:
        yield name, sources.from_testset(name, problem, count)


def _find(
    name: str,
    subjects: list[Any],
    folder: Path,
    settings: Any,
    jobs: int | None,
    again: bool,
    stop: Any,
) -> dict[str, Any]:
    """Find references and print the progress; return them by key."""
    from lifelong_co.experiments.references.batch import find
    from lifelong_co.experiments.references.cache import Cache

    count = len({subject.key for subject in subjects})
    at_once = min(jobs or cores(), count)
    found: dict[str, Any] = {}
    solved, missing = 0, []
    results = find(subjects, Cache(folder), settings, jobs=at_once, again=again, stop=stop)
    for subject, known, fresh in results:
        if known is None:
            missing.append(subject.name)
            continue
        found[subject.key] = known
        solved += fresh
        if fresh:
            proof = ", proven" if known.proven else ""
            typer.echo(f"{subject.name}: {shown(known.cost, 6)} ({known.solver}{proof})", err=True)
    values = list(found.values())
    mean = ""
    if values:
        mean = f", mean cost {shown(sum(one.cost for one in values) / len(values), 4)}"
    print(
        f"{name}: {len(values)} of {count} instances{mean}; {solved} solved now, "
        f"{sum(one.proven for one in values)} proven optimal; in {folder}",
        flush=True,
    )
    if missing:
        typer.echo(f"no feasible solution found: {', '.join(missing)}", err=True)
    return found


def shown(cost: float, digits: int) -> str:
    """Return a cost with some decimals, but an integer, as of rounded distances, without any."""
    return f"{cost:.0f}" if float(cost).is_integer() else f"{cost:.{digits}f}"


def _compare(
    name: str,
    problem: Any,
    published: Sequence[Path],
    subjects: list[Any],
    found: dict[str, Any],
) -> None:
    """Compare with published references, if there are any."""
    from lifelong_co.experiments.references.checking import ROUNDING
    from lifelong_co.experiments.references.stored import first_stored

    theirs = first_stored(published, problem, name)
    if theirs is None:
        return
    costs = theirs.by_key(problem)
    pairs = [
        (found[one.key].cost, costs[one.key])
        for one in subjects
        if one.key in found and one.key in costs
    ]
    better = sum(ours < cost - ROUNDING for ours, cost in pairs)
    worse = sum(ours > cost + ROUNDING for ours, cost in pairs)
    print(
        f"compared with {theirs.file}: lower on {better}, equal within rounding on "
        f"{len(pairs) - better - worse}, higher on {worse} of {len(pairs)}"
    )


def _check(
    batches: Sequence[tuple[str, list[Any]]], problem: Any, folder: Path, published: Sequence[Path]
) -> int:
    """Print the faults of references; return 1 if there are any."""
    from lifelong_co.experiments.references.cache import Cache
    from lifelong_co.experiments.references.checking import check_cached, check_stored
    from lifelong_co.experiments.references.stored import first_stored

    cache, faults = Cache(folder), 0
    for name, subjects in batches:
        known = sum(cache.get(one.problem, one.key) is not None for one in subjects)
        found = list(check_cached(subjects, cache))
        print(f"{name}: {known} references in {folder}, {len(found)} faulty")
        theirs = first_stored(published, problem, name) if name in DISTRIBUTIONS else None
        if theirs is not None:
            what = "costs without solutions" if theirs.solutions is None else "solutions"
            wrong = list(check_stored(theirs, problem, name, cache))
            print(f"{name}: {len(theirs.costs)} {what} in {theirs.file}, {len(wrong)} faulty")
            found += wrong
        for fault in found:
            print(f"  {fault.name}: {fault.reason}")
        faults += len(found)
    return 1 if faults else 0
