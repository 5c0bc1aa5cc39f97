"""Benchmark instances: the paper's summary over TSPLIB and CVRPLIB, and its two long tables."""

import re
from collections.abc import Sequence

from lifelong_co.benchmarking import tables
from lifelong_co.benchmarking.results import Benchmark
from lifelong_co.report.book.naming import file_name
from lifelong_co.report.book.sheet import Cell, Sheet, from_table

_MEAN = re.compile(r"(-?[\d.]+)(?: \(([\d.]+)\))?")


def benchmark_sheets(benchmarks: Sequence[Benchmark]) -> list[Sheet]:
    """Return the summary, then two sheets for each benchmark that solved any instance."""
    solved = {name: each for name, each in zip(_names(benchmarks), benchmarks, strict=True)
              if each.results}  # fmt: skip
    if not solved:
        return []
    sheets: list[Sheet] = []
    columns: dict[str, dict[str, Cell]] = {}
    for name, each in solved.items():
        costs, normalised = tables.titled(each.results, rounded=not each.settings.get("paper"))
        header, rows = from_table(normalised[1], ranked=True)
        columns[name] = {
            solver: _summary(cell) for solver, cell in zip(header[1:], rows[-1][1:], strict=True)
        }
        for kind, (title, table), of in (("", normalised, "row"), ("-costs", costs, "none")):
            header, rows = from_table(table, ranked=of == "row")
            sheets.append(
                Sheet(
                    key=f"benchmark-{file_name(name.lower())}{kind}",
                    title=f"Test performance on {name} instances"
                    + (": costs and gaps" if kind else ""),
                    header=header,
                    blocks=(rows[:-1], rows[-1:]),
                    note=f"{title.replace('10^-3', '10⁻³')}.",
                    best_of="row" if of == "row" else "none",
                )
            )
    solvers = dict.fromkeys(solver for column in columns.values() for solver in column)
    block = tuple(
        (Cell(solver), *(column.get(solver, Cell("-")) for column in columns.values()))
        for solver in solvers
    )
    summary = Sheet(
        key="benchmarks",
        title="Test performance on benchmark instances",
        header=("method", *columns),
        blocks=(block,),
        note="Mean (standard deviation) over the instances of the distance above the best of the"
        " methods, in 10⁻³.",
    )
    return [summary, *sheets]


def _names(benchmarks: Sequence[Benchmark]) -> list[str]:
    """Return the libraries, with their folders where that is needed to tell them apart."""
    libraries = [str(each.settings.get("library", "benchmark")).upper() for each in benchmarks]
    return [
        library if libraries.count(library) == 1 else f"{library} {each.folder.name}"
        for library, each in zip(libraries, benchmarks, strict=True)
    ]


def _summary(cell: Cell) -> Cell:
    """Return a cell ``mean (std)`` with its numbers apart."""
    match = _MEAN.fullmatch(cell.shown)
    if match is None:
        return cell
    parts = {"": match[1], "std": match[2]}
    return Cell(cell.shown, {name: text for name, text in parts.items() if text}, cell.rank)
