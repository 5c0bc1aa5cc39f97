"""The table of trials takes each run from the table that has it, and chooses by the mean."""

import attrs
import pytest

FILE = """
preset = "demo"
device = "cpu"
seeds = "100"
[[grids]]
name = "two orders"
orders = "2-3"
variants = [
    {name = "ewc, 20, again", method = "ewc", options = {weight = 20.0}},
    {name = "ewc, 30, again", method = "ewc", options = {weight = 30.0}},
    {name = "llr-bc, 2, again", method = "llr-bc", options = {alpha = 2.0}},
]
[[grids]]
name = "another problem"
problems = ["tsp"]
orders = 2
variants = [
    {name = "ewc, 20, again", method = "ewc", options = {weight = 20.0}},
    {name = "ewc, 30, again", method = "ewc", options = {weight = 30.0}},
    {name = "llr-bc, 2, again", method = "llr-bc", options = {alpha = 2.0}},
]
[[grids]]
name = "another seed"
orders = 4
seeds = "100-101"
methods = ["restart"]
"""
COLUMNS = ("trial", "CVRP, order 2", "CVRP, order 3", "TSP, order 2", "mean", "chosen")


@pytest.fixture
def module(program):
    """Return the module."""
    return program("equal_trials")


@pytest.fixture
def found(finished):
    """Return finished runs of three trials; those of `ewc` with 30 are the worse ones."""

    def worse(run):
        order = 0.01 * int(run.config.order)  # so that no two orders have the same AP
        more = order + 2 * (run.config.method_options.get("weight") == 30.0)
        end = max(run.tests)
        last = {tested: cost + more for tested, cost in run.tests[end].items()}
        return attrs.evolve(run, tests={**run.tests, end: last})

    return finished(FILE, worse)


def table(module, found, number=0):
    """Return the columns, and the cells by the name of a row."""
    sheet = module.equal_trials(found, found.plan.blocks[number], [])
    return sheet.header, {row[0].shown: [cell.shown for cell in row[1:]] for row in sheet.rows}


def test_a_row_has_its_runs_of_all_tables_and_orders(module, found):
    """Each cell is the AP of one run; the mean is that of all of them."""
    header, rows = table(module, found)
    assert header == COLUMNS
    for block, columns in ((found.plan.blocks[0], (0, 1)), (found.plan.blocks[1], (2,))):
        for row in block.rows:
            values = module.measured(found, row)
            for (order, _, _), column in zip(row.cells, columns, strict=True):
                metrics = values[order, (100, "cpu")]
                assert rows[row.label][column] == f"{1e3 * metrics.AP:.1f}"
    for cells in rows.values():
        assert float(cells[3]) == pytest.approx(sum(map(float, cells[:3])) / 3, abs=0.1)


def test_each_method_has_one_choice_and_none_where_a_run_is_missing(module, found):
    """Names with several commas are of one method, too."""
    _, rows = table(module, found)
    chosen = [name for name, cells in rows.items() if cells[-1] == "yes"]
    assert chosen == ["ewc, 20, again", "llr-bc, 2, again"]
    without = {
        name: run for name, run in found.runs.items() if "ewc_30_again-demo-order3" not in name
    }
    assert len(without) == len(found.runs) - 1
    _, fewer = table(module, attrs.evolve(found, runs=without))
    assert fewer["ewc, 30, again"][1] == fewer["ewc, 30, again"][3] == "-"
    assert [name for name, cells in fewer.items() if cells[-1]] == ["llr-bc, 2, again"]


def test_two_seeds_are_refused(module, found):
    """One of them would be shown as if there were no other."""
    with pytest.raises(ValueError, match=r"restart.*order4.*one seed"):
        table(module, found, 2)
