"""The table of each order has the differences of this order alone."""

import statistics

import attrs
import pytest

from lifelong_co.experiments.spread import half_width


@pytest.fixture
def module(program):
    """Return the module."""
    return program("each_order")


def test_differences_are_paired_by_seed_in_each_order(module, found):
    """Mean and interval are those of the five differences of an order."""
    block = found.plan.blocks[6]
    made = module.each_order(found, block, ["rehearsal"])
    assert made.header == ("method", "AP, order 4", "difference", "AP, order 5", "difference")
    rows = {row[0].shown: [cell.shown for cell in row] for row in made.rows}
    assert rows["rehearsal"][2] == rows["rehearsal"][4] == ""
    by_name = {row.label: row for row in block.rows}
    for j, order in ((1, "order4"), (3, "order5")):
        own, base = (module.in_order(found, by_name[name], order) for name in ("feng", "rehearsal"))
        assert set(own) == {(order, (seed, "cpu")) for seed in range(5)}
        apart = [own[at] - base[at] for at in own]
        assert rows["feng"][j] == f"{1e3 * statistics.fmean(own.values()):.1f}"
        shown = f"{1e3 * statistics.fmean(apart):+.1f} ± {1e3 * half_width(apart):.1f}"
        assert rows["feng"][j + 1] == shown


def test_without_runs_there_are_dashes(module, found):
    """A method without runs has neither a mean nor a difference."""
    runs = {name: run for name, run in found.runs.items() if "feng" not in name}
    made = module.each_order(attrs.evolve(found, runs=runs), found.plan.blocks[6], ["rehearsal"])
    (row,) = (row for row in made.rows if row[0].shown == "feng")
    assert [cell.shown for cell in row[1:]] == ["-"] * 4
