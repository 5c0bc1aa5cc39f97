"""Tables of a benchmark, with the paper's normalised values."""

import csv
import io
import statistics

import attrs
from synthetic_benchmarks import made

from lifelong_co.experiments.benchmark import tables


def test_gaps_are_relative_to_the_best_known_cost():
    """A row for each instance and the mean gap over those with a best known cost."""
    table = tables.cost_table(made()).shown
    one, two = (["one cost", "one gap", "one s"], ["two cost", "two gap", "two s"])
    assert table[0] == ["instance", "n", "best known", *one, *two]
    assert table[1] == ["a", "9", "100", "110", "10.00%", "1.0", "120", "20.00%", "1.0"]
    assert table[3] == ["c", "9", "-", "50", "-", "1.0", "60", "-", "1.0"]
    assert table[4] == ["mean", "", "", "", "10.00%", "", "", "12.50%", ""]


def test_nearest_neighbor_stands_beside_the_checkpoints():
    """Its cost and gap come first, with the mean of the gaps."""
    rule = {"a": 130, "b": 250, "c": 70}
    results = [attrs.evolve(one, nearest_neighbor=rule[one.instance]) for one in made()]
    table = tables.cost_table(results).shown
    assert table[0][3:5] == ["nearest neighbor cost", "nearest neighbor gap"]
    assert [row[3:5] for row in table[1:]] == [
        *(["130", "30.00%"], ["250", "25.00%"], ["70", "-"], ["", "27.50%"]),
    ]
    row = next(csv.DictReader(io.StringIO(tables.as_csv(results))))
    assert row["nearest_neighbor"] == "130"


def test_the_papers_table_is_relative_to_the_best_of_the_checkpoints():
    """In 10^-3, with the sample standard deviation, as the paper's LLR-BC column has it."""
    table = tables.normalised_table(made(), rounded=True).shown
    assert table[1:4] == [["a", "0.00", "90.91"], ["b", "47.62", "0.00"], ["c", "0.00", "200.00"]]
    expected = statistics.stdev([0, 1000 * 10 / 210, 0])
    assert table[4][1] == f"{1000 * 10 / 210 / 3:.2f} ({expected:.2f})"
    unrounded = tables.normalised_table(made(), rounded=False).shown
    assert unrounded[1] == ["a", "0.00", f"{1000 * (119.5 / 109.5 - 1):.2f}"]
    papers = [8.93, 23.72, 0, 1.47, 0, 0, 0, 20.85, 20.08, 4.33, 0, 0.77, 13.01, 7.94, 14.34, 0]
    papers += [21, 0, 13.28]
    assert f"{statistics.fmean(papers):.2f} ({statistics.stdev(papers):.2f})" == "7.88 (8.75)"


def test_instances_that_a_solver_has_not_solved_are_not_compared():
    """An interrupted benchmark shows what can be compared."""
    assert [row[0] for row in tables.cost_table(made()[:5]).shown] == ["instance", "a", "b", "mean"]


def test_forms():
    """Text, Markdown and CSV hold the same numbers."""
    text, markdown = (form(made(), rounded=True) for form in (tables.as_text, tables.as_markdown))
    assert "| a | 9 | 100 | 110 | 10.00% | 1.0 | 120 | 20.00% | 1.0 |" in markdown
    assert "Normalised as in the paper" in text
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(made()))))
    assert len(rows) == 6
    assert (rows[0]["cost"], rows[0]["gap_fraction"]) == ("110", "0.100000")
    assert (rows[4]["best_known"], rows[4]["gap_fraction"]) == ("", "")
    assert (rows[0]["batch"], rows[0]["seconds_per_instance"]) == ("1", "1.0")
