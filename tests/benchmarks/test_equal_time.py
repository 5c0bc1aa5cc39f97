"""Methods at equal time stand beside the row of `rehearsal` with the same seeds."""

import statistics

import attrs
import pytest

from lifelong_co.experiments.spread import half_width


@pytest.fixture
def equal(program):
    """Return the module."""
    return program("equal_time")


@pytest.mark.parametrize("number", [0, 1])
def test_a_difference_is_paired_by_seed(equal, found, number):
    """The last column is the mean of the differences of each seed, with its interval."""
    block = found.plan.blocks[number]
    made = equal.equal_time(found, block, [])
    base = equal.by_seed(found, equal.row_of(block, equal.BASE))
    rows = {row[0].shown: row for row in made.rows}
    assert list(rows) == [equal.BASE, "der++", "li-inter", "fine-tuning"]
    for each in found.plan.blocks:
        if (each.title, each.problem) == (equal.NAME, block.problem):
            (row,) = each.rows
            own = equal.by_seed(found, row)
            assert own.keys() == base.keys() == {("", (seed, "cpu")) for seed in range(5)}
            apart = [own[seed] - base[seed] for seed in own]
            shown = f"{1e3 * statistics.fmean(apart):+.1f} ± {1e3 * half_width(apart):.1f}"
            assert rows[row.label][-1].shown == shown


@pytest.mark.parametrize("number", [0, 1])
def test_the_times_are_those_of_equal_budgets(equal, found, number):
    """By the steps of `method_steps.py` no method has less time, or far more."""
    made = equal.equal_time(found, found.plan.blocks[number], [])
    times = [float(row[2].shown) for row in made.rows]
    assert times[0] == 1
    assert all(1 <= time <= 1.3 for time in times)


def test_the_time_is_batches_times_the_price_of_a_step(equal, found, monkeypatch):
    """24 batches, each three times as dear, take 24 * 3 / 40 of the time of 40."""
    block = found.plan.blocks[0]
    price = {"rehearsal, share=0.3": 1.0}
    monkeypatch.setattr(equal, "ratio_of_steps", lambda method, _: price.get(method, 3.0))
    made = equal.equal_time(found, block, [])
    batches = {row[0].shown: int(row[1].shown) for row in made.rows}
    assert batches == {equal.BASE: 40, "der++": 24, "li-inter": 22, "fine-tuning": 62}
    for row in made.rows[1:]:
        assert float(row[2].shown) == pytest.approx(batches[row[0].shown] * 3 / 40, abs=0.006)


@pytest.mark.parametrize("missing", ["equal_time", "rehearsal"])
def test_without_runs_no_metric_is_said(equal, found, missing):
    """A row without runs has dashes, and nothing is compared with it."""
    runs = {name: run for name, run in found.runs.items() if missing not in name}
    made = equal.equal_time(attrs.evolve(found, runs=runs), found.plan.blocks[0], [])
    for row in made.rows:
        gone = (row[0].shown == equal.BASE) == (missing == equal.BASE)
        assert [cell.shown for cell in row[3:7]].count("-") == 3 * gone
        assert (row[3].shown == "0") == gone
        assert row[-1].shown == ("" if row[0].shown == equal.BASE else "-")
