"""The benchmark tables of a report: unique names, units in CSV."""

import csv
import io
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_benchmarks import solved

from lifelong_co.experiments.benchmark.results import Benchmark
from lifelong_co.experiments.formats import as_csv, text
from lifelong_co.experiments.paper.assemble import apart
from lifelong_co.experiments.paper.benchmark_tables import benchmark_sheets
from lifelong_co.experiments.report import Part, Section


def names_and_keys(*folders, library="tsplib"):
    """Return the summary's columns and the keys of benchmarks in some folders."""
    made = [Benchmark(Path(folder), {"library": library}, solved()) for folder in folders]
    section = Section("", sheets=tuple(benchmark_sheets(made)))
    [part] = apart([("", Part("", "", (section,)))])
    summary, *sheets = part.sections[0].sheets
    return list(summary.header[1:]), [sheet.key for sheet in sheets]


def test_two_benchmarks_of_one_library_are_named_by_their_folders():
    """By as much of the path as that needs; the results of both are there."""
    assert names_and_keys("/x/out") == (["TSPLIB"], ["benchmark-tsplib", "benchmark-tsplib-costs"])
    assert names_and_keys("/x/a", "/x/b")[0] == ["TSPLIB a", "TSPLIB b"]
    names, keys = names_and_keys("/x/a/out", "/x/b/out", "/x/b/results")
    assert names == ["TSPLIB a/out", "TSPLIB b/out", "TSPLIB b/results"]
    ends = ("a-out", "b-out", "b-results")
    assert keys[::2] == [f"benchmark-tsplib-{end}" for end in ends]
    both = [
        Benchmark(Path(folder), {"library": "tsplib"}, [attrs.evolve(one, cost=cost)])
        for folder, cost, one in zip(("/a/out", "/b/out"), (111, 112), solved(), strict=True)
    ]
    shown = {cell.shown for sheet in benchmark_sheets(both) for row in sheet.rows for cell in row}
    assert {"111", "112"} <= shown


PARTS = st.sampled_from(["a", "A", "b", "a-b", "a b", "costs", "b-costs", "out", "2"])


@given(st.sets(st.lists(PARTS, max_size=3).map("/".join), min_size=1, max_size=6))
def test_names_and_files_are_unique_on_every_system(folders):
    """Also where files differ in case only, or one ends like another's costs."""
    names, keys = names_and_keys(*(f"/{folder}" for folder in folders))
    assert len({*names}) == len(names) == len(folders)
    assert len({key.lower() for key in keys}) == len(keys) == 2 * len(folders)


def test_csv_names_every_column_and_its_unit():
    """No name occurs twice; gaps are fractions, distances above the best in 10^-3."""
    results = [*solved(), *(attrs.evolve(one, instance="b", best_known=None) for one in solved())]
    summary, normalised, costs = benchmark_sheets([Benchmark(Path("/x"), {}, results)])
    header, first, second, mean = csv.reader(io.StringIO(as_csv(costs)))
    assert header == [
        *("instance", "n", "best known", "one cost", "one gap_fraction", "one s"),
        *("two cost", "two gap_fraction", "two s"),
    ]
    assert first == ["a", "9", "100", "110", "0.100000", "1.0", "120", "0.200000", "1.0"]
    assert second == ["b", "9", "", "110", "", "1.0", "120", "", "1.0"]
    assert mean == ["mean", "", "", "", "0.100000", "", "", "0.200000", ""]
    header, first, _, mean = csv.reader(io.StringIO(as_csv(normalised)))
    assert header == ["instance", *("one_1e-3", "one_std_1e-3", "two_1e-3", "two_std_1e-3")]
    assert first == ["a", "0", "", f"{1e4 / 110:.6g}", ""]
    assert [float(cell) for cell in mean[1:]] == pytest.approx([0, 0, 1e4 / 110, 0], abs=1e-3)
    assert as_csv(summary).splitlines()[0] == "method,BENCHMARK_1e-3,BENCHMARK_std_1e-3"
    assert "one cost  one gap  one s  two cost  two gap  two s" in text(costs)


def test_summary_of_benchmarks_is_that_of_the_paper(report):
    """Methods by libraries, in 10^-3 above the best of them."""
    (sheet,) = (sheet for sheet in report.sheets if sheet.key == "benchmarks")
    assert sheet.header == ("method", "CVRPLIB")
    assert [[cell.shown for cell in row] for row in sheet.rows] == [
        ["llr-bc", "0.00"],
        ["fine-tuning", f"{1000 * (29 / 28 - 1):.2f}"],
    ]
    assert sheet.best() == {(0, 1)}
