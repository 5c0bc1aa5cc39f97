"""The plumbing of the tables of metrics."""

import attrs

from lifelong_co import metrics
from lifelong_co.experiments.paper.metric_sheet import groups, metric_sheet, same_seeds


def test_best_values_are_marked_between_rows_of_the_same_orders_and_seeds(chapter):
    """Equal seeds are not enough: a run may be missing in one of two orders."""
    runs = chapter.of("pomo")["cvrp"].main[0].runs
    first, *others = runs
    assert others
    again = attrs.evolve(first, config=attrs.evolve(first.config, seed=first.config.seed))
    assert same_seeds([runs, [again, *others], []])
    order = [run for run in runs if run.names == first.names]
    other = [run for run in runs if run.names != first.names]
    assert other
    assert not same_seeds([runs, order])
    assert not same_seeds([order, other])


def test_columns_of_a_problem_without_runs_are_dashes(chapter):
    """A study that is missing, or has no run there, takes as many columns as one with runs."""
    study = chapter.of("pomo")["cvrp"]
    runs = study.main[0].runs
    cells = groups([(study, runs), (None, []), (study, [])])
    width = 1 + len(metrics.NAMES)
    shown = [cell.shown for cell in cells]
    assert shown[0] == str(len(runs))
    assert "-" not in shown[:width]
    assert shown[width:] == ["-"] * (2 * width)
    sheet = metric_sheet(chapter, "x", "X", ["method"], ["cvrp", "tsp", "atsp"], [])
    assert len(sheet.header) == 1 + len(cells)
    assert sheet.spans == (("", 1), ("CVRP", width), ("TSP", width), ("ATSP", width))
