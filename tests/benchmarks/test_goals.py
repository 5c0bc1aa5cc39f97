"""A goal is compared with each seed's own bound."""

import statistics

import attrs
import pytest
from synthetic_sweeps import FILE

from lifelong_co.errors import UnknownNameError
from lifelong_co.experiments.spread import half_width


@pytest.fixture
def goals(program):
    """Return the module."""
    return program("goals")


@pytest.fixture
def found(finished):
    """Return results."""
    return finished(FILE)


def shown(row):
    """Return the texts of a row."""
    return [cell.shown for cell in row]


def means(measured, metric):
    """Return the mean over the orders of a metric, for each seed."""
    orders = {order for order, _ in measured}
    seeds = sorted({seed for _, seed in measured})
    return [
        statistics.fmean(getattr(measured[order, seed], metric) for order in orders)
        for seed in seeds
    ]


def test_a_seed_without_an_order_does_not_count(goals, found):
    """Its mean would be that of another table."""
    block = found.plan.blocks[0]
    (_, _, name), *_ = block.rows[0].cells
    fewer = attrs.evolve(found, runs={key: run for key, run in found.runs.items() if key != name})
    goal = goals.Goal(block.rows[0].label, "AP", 1.0)
    assert len(goals.pairs(found, block, goal)) == 2
    assert len(goals.pairs(fewer, block, goal)) == 1


def test_a_goal_beside_another_row_is_paired(goals, found):
    """Half of the other row's metric of the same seed is the bound; both are means over orders."""
    block = found.plan.blocks[0]
    names = [block.rows[0].label, block.rows[1].label]
    own, other = (means(goals.measured(found, row), "AP") for row in block.rows)
    assert len(own) == 2  # seeds, each with two orders
    above = [mine - bound / 2 for mine, bound in zip(own, other, strict=True)]
    texts = shown(goals.met(found, block, goals.Goal(names[0], "AP", 0.5, names[1], "half")))
    off = f"{1e3 * statistics.fmean(above):+.1f} ± {1e3 * half_width(above):.1f}"
    each = [mine / bound for mine, bound in zip(own, other, strict=True)]
    assert texts[:3] == [names[0], "AP", "half"]
    assert texts[5:7] == [off, f"{statistics.fmean(each):.2f} ± {half_width(each):.2f}"]


@pytest.mark.parametrize(
    ("share", "said"),
    [
        *((10.0, "yes"), (-10.0, "no")),
        *((0.5, "yes, but the interval has 0"), (-0.5, "no, but the interval has 0")),
    ],
)
def test_the_verdict_follows_the_interval(goals, found, share, said):
    """A mean above its bound is not reached; the interval says how sure both are."""
    block = found.plan.blocks[0]
    label = block.rows[0].label
    values = means(goals.measured(found, block.rows[0]), "APl")
    bound = statistics.fmean(values) + share * half_width(values)
    goal = goals.Goal(label, "APl", bound)
    assert shown(goals.met(found, block, goal))[-1] == said


def test_only_goals_of_the_metrics_and_rows_of_the_table_are_shown(goals, program):
    """A study without the cheap form, or without times, has the rest; the seeds are counted."""
    study = program("study")
    found = study.Study.named("five_times").results()
    sheet = goals.goals(found, found.plan.blocks[0], ["AF"])
    assert [shown(row)[:3] for row in sheet.rows] == [["rehearsal", "AF", "1"]]
    assert "Pairs: 3." in sheet.note
    assert "Time" not in sheet.note
    shares = study.Study.named("comparison").results()
    alone = goals.goals(shares, shares.plan.blocks[6], ["AP", "AF"])  # without the other rows
    assert [shown(row)[:3] for row in alone.rows] == [["rehearsal", "AF", "1"]]
    with pytest.raises(UnknownNameError, match="speed"):
        goals.goals(found, found.plan.blocks[0], ["speed"])


def test_a_time_is_that_of_a_whole_run(goals, found, monkeypatch):
    """On the problem of the table."""
    block = found.plan.blocks[0]
    ratios = {("llr-bc", block.problem): 1.5}
    monkeypatch.setattr(goals, "ratio_of_runs", lambda *of: ratios[of])
    in_time = goals.timed(block, goals.Goal("llr-bc", "time", 1.5))
    assert shown(in_time)[3:] == ["1.50", "1.5", "+0.00", "-", "yes"]
    late = goals.timed(block, goals.Goal("llr-bc", "time", 1.25))
    assert shown(late)[5:] == ["+0.25", "-", "no"]


def test_without_runs_nothing_is_said(goals, found):
    """A dash stands in each column."""
    block = found.plan.blocks[0]
    fewer = attrs.evolve(found, runs={})
    assert shown(goals.met(fewer, block, goals.Goal("llr-bc", "AP", 1.0)))[3:] == ["-"] * 5
