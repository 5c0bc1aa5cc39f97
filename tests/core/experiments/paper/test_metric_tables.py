"""The paper's tables of metrics."""

import statistics

import pytest
import synthetic_runs
from synthetic_chapters import write

from lifelong_co.experiments.paper import metric_tables
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.studies import chapters
from lifelong_co.metrics import summarize


def test_the_table_over_orders_has_mean_and_deviation_of_the_orders(chapter):
    """The mean over orders of the mean over seeds, and the deviation of these; d* of all runs."""
    (sheet,) = metric_tables.over_orders(chapter)
    study = chapter.of("pomo")["cvrp"]
    every = [run for variant in study.variants for run in variant.runs]
    best = {n: min(r.costs[i][r.names.index(n)] for r in every for i in range(3))
            for n in chapter.tasks}  # fmt: skip
    means = []
    for order in chapter.orders:
        runs = [run for run in study.variants[1].runs if run.names == order]
        values = [summarize(run.costs, [best[n] for n in run.names]).AP for run in runs]
        means.append(1e3 * statistics.fmean(values))
    llr_bc = sheet.rows[1]
    assert [cell.shown for cell in llr_bc[:2]] == ["llr-bc", "4"]
    shown = f"{statistics.fmean(means):.1f} ({statistics.stdev(means):.1f})"
    assert llr_bc[2].shown.startswith(shown)
    assert (1, 2) in sheet.best()
    assert sheet.columns[:3] == ("method", "CVRP runs", "CVRP AP")


def test_variants_share_a_block_with_the_default_of_the_same_orders_and_seeds(chapter):
    """Nothing was varied in order 2 nor with seed 1, so neither counts for the default."""
    (sheet,) = metric_tables.varied(chapter)
    assert [row[0].shown for row in sheet.rows] == ["-α(10)", "-KLD", "default"]
    assert [row[1].shown for row in sheet.rows] == ["1", "1", "1"]


def test_variants_in_other_orders_have_another_default_row(root, tmp_path):
    """A setting with two seeds is not held against a mean over other seeds, nor changes it."""
    for seed in (0, 1):
        write(tmp_path, f"units-{seed}", options={"replay_size": 4}, seed=seed)
    (more,) = chapters(collect([root, tmp_path]).runs)
    (sheet,) = metric_tables.varied(more)
    assert [[[cell.shown for cell in row[:2]] for row in block] for block in sheet.blocks] == [
        [["-|E|(4)", "2"], ["default", "2"]],
        [["-α(10)", "1"], ["-KLD", "1"], ["default", "1"]],
    ]


def test_setting_is_compared_with_its_default_in_common_orders_only(root, tmp_path):
    """A default that lacks an order is no mean over fewer runs than the setting beside it."""
    for order, seed in (("1", 0), ("2", 0), ("2", 7)):
        options = {"replay_size": 4}
        write(tmp_path, f"units-{order}-{seed}", order=order, seed=seed, options=options)
    (more,) = chapters(collect([root, tmp_path]).runs)
    (sheet,) = metric_tables.varied(more)
    assert [[cell.shown for cell in row[:2]] for row in sheet.blocks[0]] == [
        ["-|E|(4)", "2"],
        ["default", "2"],
    ]


def test_means_over_different_orders_are_not_compared(root, tmp_path):
    """A method with order 1 alone stands beside the others in that order, in a separate block."""
    write(tmp_path, "ewc", "ewc")
    (more,) = chapters(collect([root, tmp_path]).runs)
    (sheet,) = metric_tables.over_orders(more)
    assert [[[cell.shown for cell in row[:3]] for row in block] for block in sheet.blocks] == [
        [["fine-tuning", "1, 2", "4"], ["llr-bc", "1, 2", "4"]],
        [["fine-tuning", "1", "2"], ["ewc", "1", "1"], ["llr-bc", "1", "2"]],
    ]
    assert sheet.columns[:3] == ("method", "orders", "CVRP runs")


def test_best_value_is_marked_only_among_the_same_seeds(root, tmp_path):
    """A seed can be worse for all methods, so a mean without it is no better method."""
    write(tmp_path, "ewc", "ewc")
    for also in ((), (1,)):
        for seed in also:
            write(tmp_path, f"ewc-{seed}", "ewc", seed=seed)
        (more,) = chapters(collect([root, tmp_path]).runs)
        (over,), (each,) = metric_tables.over_orders(more), metric_tables.per_order(more)
        marked = [
            {sheet.rows[i][1 if sheet is over else 0].shown for i, _ in sheet.best()}
            for sheet in (over, each)
        ]
        assert marked == [{"1, 2", "1"}, {"1", "2"}] if also else [{"1, 2"}, {"2"}]


def test_other_solvers_have_another_table(chapter):
    """Each has a separate block and d*; only orders that another solver has count."""
    (sheet,) = metric_tables.applicability(chapter)
    assert [[row[0].shown for row in block] for block in sheet.blocks] == [
        ["fine-tuning (pomo)", "llr-bc (pomo)"],
        ["fine-tuning (omni)"],
    ]
    assert [row[1].shown for row in sheet.rows] == ["2", "2", "1"]
    omni = chapter.of("omni")["cvrp"]
    assert omni.best != chapter.of("pomo")["cvrp"].best


def test_means_over_different_orders_of_other_solvers_are_not_compared(root, tmp_path):
    """Omni has llr-bc in both orders and fine-tuning in the first: so there are two blocks each."""
    for order in ("1", "2"):
        write(tmp_path, f"omni-{order}", order=order, solver="omni")
    (more,) = chapters(collect([root, tmp_path]).runs)
    (sheet,) = metric_tables.applicability(more)
    assert [[[cell.shown for cell in row[:3]] for row in block] for block in sheet.blocks] == [
        [["fine-tuning (pomo)", "1, 2", "4"], ["llr-bc (pomo)", "1, 2", "4"]],
        [["llr-bc (omni)", "1, 2", "2"]],
        [["fine-tuning (omni)", "1", "1"], ["llr-bc (omni)", "1", "1"]],
    ]
    assert sheet.columns[:3] == ("method (solver)", "orders", "CVRP runs")


def test_each_order_is_shown_after_half_and_all_tasks(chapter):
    """At k = 2 the first two tasks count alone."""
    (sheet,) = metric_tables.per_order(chapter)
    assert sheet.spans == (("", 3), ("k = 2", 5), ("k = 3", 5))
    study = chapter.of("pomo")["cvrp"]
    runs = [run for run in study.variants[1].runs if run.config.order == "1"]
    best = [study.best[name] for name in runs[0].names[:2]]
    ap = [summarize([row[:2] for row in run.costs[:2]], best).AP * 1e3 for run in runs]
    row = next(r for r in sheet.rows if [c.shown for c in r[:2]] == ["1", "llr-bc"])
    assert row[2].shown == "2"
    assert float(row[3].parts["1e-3"]) == pytest.approx(statistics.fmean(ap), rel=1e-5)


def test_one_order_and_one_task_still_give_tables(tmp_path):
    """With a single task of a single run nothing is defined."""
    write(tmp_path, "one", "fine-tuning")
    of = synthetic_runs.config(distributions=("E",))
    synthetic_runs.write(tmp_path / "single", of)
    first, second = chapters(collect([tmp_path]).runs)
    assert first.key != second.key
    (sheet,) = metric_tables.over_orders(second)
    assert [cell.shown for cell in sheet.rows[0]][2:] == ["-"] * 5
    assert metric_tables.applicability(first) == []
    assert metric_tables.varied(first) == []
