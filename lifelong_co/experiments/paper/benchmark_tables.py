"""Benchmark instances: the paper's summary over TSPLIB and CVRPLIB, and its two long tables."""

import itertools
from collections.abc import Sequence

from lifelong_co.experiments.benchmark import tables
from lifelong_co.experiments.benchmark.compared import Compared, compare, gap, mean_gap, normalise
from lifelong_co.experiments.benchmark.results import Benchmark
from lifelong_co.experiments.comparison.tables import SCALE
from lifelong_co.experiments.paper.naming import file_name
from lifelong_co.experiments.sheet import THOUSANDTHS, Cell, Row, Sheet, words


def benchmark_sheets(benchmarks: Sequence[Benchmark]) -> list[Sheet]:
    """Return the summary, then two sheets for each benchmark that solved any instance."""
    solved = [each for each in benchmarks if each.results]
    if not solved:
        return []
    names = _names(solved)
    sheets: list[Sheet] = []
    columns: list[dict[str, Cell]] = []
    for name, key, each in zip(names, _keys(names), solved, strict=True):
        found, title = compare(each.results), f"Test performance on {name} instances"
        normalised = _normalised(found, key, title, rounded=not each.settings.get("paper"))
        columns.append(dict(zip(found.solvers, normalised.rows[-1][1:], strict=True)))
        sheets += [normalised, _costs(found, f"{key}-costs", f"{title}: costs and gaps")]
    solvers = dict.fromkeys(solver for column in columns for solver in column)
    summary = Sheet(
        key="benchmarks",
        title="Test performance on benchmark instances",
        header=("method", *names),
        blocks=(
            tuple(
                (Cell(solver), *(column.get(solver, Cell("-")) for column in columns))
                for solver in solvers
            ),
        ),
        note="Mean (standard deviation) over the instances of the distance above the best of the"
        " methods, in 10⁻³.",
    )
    return [summary, *sheets]


def _normalised(found: Compared, key: str, title: str, *, rounded: bool) -> Sheet:
    normalised = normalise(found, rounded=rounded)
    block = tuple(
        (Cell(instance), *(_thousandths(row[name], None) for name in found.solvers))
        for instance, row in normalised.rows.items()
    )
    means = (_thousandths(*normalised.summary[name]) for name in found.solvers)
    return Sheet(
        key=key,
        title=title,
        header=("instance", *found.solvers),
        blocks=(block, ((Cell("mean (std.)"), *means),)),
        note=f"{tables.normalised_title(rounded=rounded).replace('10^-3', '10⁻³')}.",
        best_of="row",
    )


def _costs(found: Compared, key: str, title: str) -> Sheet:
    block: list[Row] = []
    for instance, row in found.rows.items():
        first = row[found.solvers[0]]
        cells = words(instance, str(first.size), tables.number(first.best_known))
        for name in found.solvers:
            cells += (Cell(str(row[name].cost)), _percent(gap(row[name])))
        block.append(cells)
    last = words("mean", "", "")
    for name in found.solvers:
        last += (Cell(""), _percent(mean_gap(found, name)))
    return Sheet(
        key=key,
        title=title,
        header=("instance", "n", "best known", *("cost", "gap") * len(found.solvers)),
        spans=(("", 3), *((name, 2) for name in found.solvers)),
        blocks=(tuple(block), (last,)),
        note=f"{tables.COSTS}.",
        best_of="none",
    )


def _thousandths(mean: float | None, deviation: float | None) -> Cell:
    """Return a fraction, and its standard deviation if there is one, in 10⁻³."""
    if mean is None:
        return Cell("-", {THOUSANDTHS: ""})
    parts = {THOUSANDTHS: f"{SCALE * mean:.6g}"}
    if deviation is not None:
        parts[f"std_{THOUSANDTHS}"] = f"{SCALE * deviation:.6g}"
    shown = tables.mean_and_deviation(mean, deviation)
    return Cell(shown, parts, rank=round(SCALE * mean, 2))


def _percent(fraction: float | None) -> Cell:
    shown = tables.percent(fraction)
    return Cell(shown, {"fraction": "" if fraction is None else f"{fraction:.6f}"})


def _names(benchmarks: Sequence[Benchmark]) -> list[str]:
    """Return the libraries, with as much of their folders as is needed to tell them apart."""
    libraries = [str(each.settings.get("library", "benchmark")).upper() for each in benchmarks]
    paths = [each.folder.resolve().parts for each in benchmarks]
    names = []
    for library, path in zip(libraries, paths, strict=True):
        alike = [other for of, other in zip(libraries, paths, strict=True) if of == library]
        ends = range(1, max(map(len, alike)) + 1)
        shortest = (k for k in ends if len({other[-k:] for other in alike}) == len(alike))
        tail = "/".join(path[-next(shortest, ends[-1]) :])
        names.append(library if len(alike) == 1 else f"{library} {tail}")
    return names


def _keys(names: Sequence[str]) -> list[str]:
    """Return names of files that differ on every system, also from those of costs."""
    keys: list[str] = []
    taken: set[str] = set()
    for name in names:
        stem = f"benchmark-{file_name(name.lower())}"
        numbered = (f"{stem}-{number}" for number in itertools.count(2))
        tried = itertools.chain([stem], numbered)
        keys.append(next(key for key in tried if not {key, f"{key}-costs"} & taken))
        taken |= {keys[-1], f"{keys[-1]}-costs"}
    return keys
