"""Tables of benchmark instances: the paper's summary, and the two long tables of each library."""

from collections.abc import Sequence
from typing import Any

import attrs

from lifelong_co.experiments.benchmark import tables
from lifelong_co.experiments.benchmark.results import Benchmark
from lifelong_co.experiments.paper.naming import file_name
from lifelong_co.experiments.sheet import Cell, Sheet


def benchmark_sheets(benchmarks: Sequence[Benchmark]) -> list[Sheet]:
    """Return the summary, then two sheets for each benchmark that solved any instance.

    Two sheets can have one key: `assemble.apart` tells their files apart.
    """
    solved = [each for each in benchmarks if each.results]
    if not solved:
        return []
    names = _names(solved)
    sheets: list[Sheet] = []
    columns: list[dict[str, Cell]] = []
    for name, each in zip(names, solved, strict=True):
        key, title = f"benchmark-{file_name(name.lower())}", f"Test performance on {name} instances"
        made = tables.normalised_table(each.results, rounded=not each.settings.get("paper"))
        costs = tables.cost_table(each.results)
        columns.append(dict(zip(made.header[1:], made.rows[-1][1:], strict=True)))
        sheets.append(_named(made, key, title, best_of="row"))
        sheets.append(_named(costs, f"{key}-costs", f"{title}: costs and gaps"))
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
        note="The gap to the best of these methods on each instance, in 10⁻³: mean (sample"
        " standard deviation) over the instances.",
    )
    return [summary, *sheets]


def _named(sheet: Sheet, key: str, title: str, **more: Any) -> Sheet:
    """Return a sheet with another title; its old title becomes the note."""
    note = f"{sheet.title}.".replace("10^-3", "10⁻³")
    return attrs.evolve(sheet, key=key, title=title, note=note, **more)


def _names(benchmarks: Sequence[Benchmark]) -> list[str]:
    """Return the name of each library; if two are the same, with a part of the folder's path."""
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
