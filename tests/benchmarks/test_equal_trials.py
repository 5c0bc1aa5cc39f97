"""The table of trials takes each run from the table that has it, and chooses by the mean."""

import statistics

import attrs
import pytest


@pytest.fixture
def module(program):
    """Return the module."""
    return program("equal_trials")


@pytest.fixture
def found(program):
    """Return the stored runs of the tuning."""
    return program("page").results("method_tuning")


def table(module, found, number):
    """Return the columns, and the cells by the name of a row."""
    sheet = module.equal_trials(found, found.plan.blocks[number], [])
    return sheet.header, {row[0].shown: [cell.shown for cell in row[1:]] for row in sheet.rows}


def test_a_row_has_its_runs_of_all_tables(module, found):
    """`feng` has its trials on order 2 in the first table, those on order 3 in a later one."""
    header, rows = table(module, found, 15)
    assert header[1:5] == ("CVRP, order 2", "CVRP, order 3", "TSP, order 2", "TSP, order 3")
    block = found.plan.blocks[0]
    (row,) = (row for row in block.rows if row.label == "feng, 1")
    (metrics,) = module.measured(found, row).values()
    assert rows["feng, 1"][0] == f"{1e3 * metrics.AP:.1f}"


def test_the_lowest_mean_is_chosen_and_only_where_no_run_is_missing(module, found):
    """In a study with all runs each method has one choice; without one of them it has none."""
    block = found.plan.blocks[0]
    both = attrs.evolve(found, plan=attrs.evolve(found.plan, blocks=(block,)))
    _, rows = table(module, both, 0)
    chosen = [name for name, cells in rows.items() if cells[-1] == "yes"]
    for name in ("feng", "llr-bc", "li-inter"):
        (best,) = (each for each in chosen if module.method(each) == name)
        means = {each: float(cells[0]) for each, cells in rows.items() if each.startswith(name)}
        assert means[best] == min(means.values())
        assert float(rows[best][-2]) == statistics.fmean([float(rows[best][0])])
    without = {name: run for name, run in both.runs.items() if "feng_1-" not in name}
    _, fewer = table(module, attrs.evolve(both, runs=without), 0)
    assert fewer["feng, 1"][:2] == ["-", "-"]
    assert all(fewer[f"feng, {weight}"][-1] == "" for weight in ("0.25", "0.5", "1"))
