"""The tables that `page.py` adds to those of a sweep."""

import itertools
import statistics

import attrs
import pytest
from synthetic_sweeps import FILE

from lifelong_co.errors import UnknownNameError
from lifelong_co.experiments.comparison.comparison import compare_runs

COMMITS = ("fedcba987654", "012345678901")


@pytest.fixture
def page(program):
    """Return the module."""
    return program("page")


@pytest.fixture
def found(finished):
    """Return results."""
    return finished(FILE)


def test_mistyped_metric_is_refused(page, found, monkeypatch):
    """Else a value would be the cell of another column, and a table would lack one."""
    monkeypatch.setattr(page, "results", lambda _: found)
    block = found.plan.blocks[0]
    label = block.rows[0].label
    assert page.value("file", "1", label, "APl") == found.metrics(block.rows[0])[3].shown
    with pytest.raises(UnknownNameError, match=r"'APL'.*'APl'"):
        page.value("file", "1", label, "APL")
    with pytest.raises(UnknownNameError, match="'time'"):
        page.paired(found, block, [label, "time"])


def test_pair_with_too_few_seeds_is_named_and_not_counted(page, found):
    """Only tests that were made are corrected for."""
    block = found.plan.blocks[0]
    first, other = (row.label for row in block.rows[:2])
    assert page.paired(found, block, [first, "AP"]).note.endswith(
        f"for 0 tests of each metric. Too few common seeds"
        f" with one kind of device and number of processes: {other}."
    )


def test_both_definitions_stand_side_by_side(page, found):
    """Each is that of `compare_runs`."""
    block = found.plan.blocks[0]
    made = page.published(found, block, ["AF"])
    assert made.header == ("method", "AF, text", "AF, code")
    runs = list(found.runs.values())
    row = block.rows[0]
    for column, definition in ((1, "text"), (2, "published")):
        comparison = compare_runs(runs, definition)
        values = [comparison.metrics(found.runs[name]).AF for _, _, name in row.cells]
        shown = made.blocks[0][0][column].shown
        assert shown.startswith(f"{1e3 * statistics.fmean(values):.1f} ")


def test_a_row_says_how_many_runs_it_has_if_rows_differ(page, found):
    """Otherwise one line says it."""
    block = found.plan.blocks[0]
    assert page.metrics_table(found, block, ["AP"]).note == "Runs of each row: 4."
    name = block.rows[0].cells[0][2]
    fewer = {key: run for key, run in found.runs.items() if key != name}
    made = page.metrics_table(attrs.evolve(found, runs=fewer), block, ["AP"])
    assert [row[1].shown for row in made.blocks[0]] == ["3 of 4", "4"]


def test_a_table_names_the_commits_of_its_runs(page, found):
    """Each once, in short, also of a run that was resumed; with ``+`` if the code was changed."""
    both = (f"{COMMITS[0]}+", " ".join(COMMITS))
    makers = itertools.cycle(f"lifelong-co 0.1.0 ({commit}), torch 2" for commit in both)
    runs = {key: attrs.evolve(run, made_by=(next(makers),)) for key, run in found.runs.items()}
    dated, block = attrs.evolve(found, runs=runs), found.plan.blocks[0]
    named = "Commits 0123456, fedcba9, fedcba9+."
    assert page.metrics_table(dated, block, ["AP"]).note == f"Runs of each row: 4. {named}"
    assert page.paired(dated, block, [block.rows[0].label, "AP"]).note.endswith(f". {named}")
    assert page.split(dated, block, []).note.endswith(f". {named}")
