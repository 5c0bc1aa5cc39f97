"""Runs found in folders and sorted into the paper's tables."""

import math
import shutil
import statistics
from pathlib import Path

import numpy as np
import pytest
import synthetic_runs

from lifelong_co import registry
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.paper import metric_tables
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.cost_tables import cost_sheets
from lifelong_co.experiments.paper.naming import variant_name
from lifelong_co.experiments.paper.studies import Chapter, chapters
from lifelong_co.experiments.references.places import Places
from lifelong_co.metrics import summarize
from lifelong_co.tasks import instances as streams

ORDERS = {"1": ("E", "C", "U"), "2": ("U", "E", "C")}
LLR_BC = {"weighting": "variance", "divergence": "rkl", "behavior": "probabilities", "alpha": 3.0,
          "buffer_size": 1000, "replay_size": 16, "replay_rows": 0.125}  # fmt: skip


def write(root: Path, name: str, method: str = "llr-bc", order: str = "1", **settings) -> Path:
    """Write a finished run of the preset `small`."""
    options = {**LLR_BC, **settings.pop("options", {})} if method == "llr-bc" else {}
    of = synthetic_runs.config(
        method, ORDERS[order], order=order, method_options=options, **settings
    )
    return synthetic_runs.write(root / name, of)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods in two orders and with two seeds, and two settings varied in order 1."""
    root = tmp_path_factory.mktemp("runs")
    for order in ORDERS:
        for seed in (0, 1):
            for method in ("llr-bc", "fine-tuning"):
                write(root, f"{method}-{order}-{seed}", method, order, seed=seed)
    write(root, "alpha", options={"alpha": 10.0})
    write(root, "kld", options={"ablation": "KLD", "divergence": "kl"})
    write(root, "omni", "fine-tuning", solver="omni")
    return root


@pytest.fixture(scope="module")
def chapter(root: Path) -> Chapter:
    """Sort the runs."""
    (one,) = chapters(collect([root]).runs)
    return one


def test_runs_are_found_below_a_sweeps_folder(root, tmp_path):
    """First parts that runs share and unfinished runs are left out, the latter by name."""
    (tmp_path / "sweep.toml").write_text("")
    shutil.copytree(root / "alpha", tmp_path / "runs" / "alpha")
    shutil.copytree(root / "alpha", tmp_path / "runs" / "again")
    shutil.copytree(root / "alpha", tmp_path / "shared" / "first")
    torn = shutil.copytree(root / "kld", tmp_path / "runs" / "torn")
    (torn / "costs.csv").unlink()
    found = collect([tmp_path, tmp_path / "runs"])
    assert [run.path.name for run in found.runs] == ["again"]
    assert any("torn: the run is not finished" in line for line in found.left_out)
    assert any("alpha: the same configuration and seed as" in line for line in found.left_out)


def test_a_folder_without_finished_runs_is_refused(root, tmp_path):
    """Missing, empty, with nothing finished, or itself an unfinished run: the error says which."""
    with pytest.raises(ConfigError, match="absent: expected a folder of runs, found nothing"):
        collect([tmp_path / "absent"])
    with pytest.raises(ConfigError, match="expected finished runs in it, found none"):
        collect([tmp_path])
    run = shutil.copytree(root / "kld", tmp_path / "run")
    (run / "costs.csv").unlink()
    with pytest.raises(ConfigError, match=r"none of those there can be used: .*not finished"):
        collect([tmp_path])
    with pytest.raises(ConfigError, match="run: the run is not finished"):
        collect([root, run])


def test_default_of_a_method_has_the_options_of_the_preset(chapter):
    """The main variant has the preset's options, whatever else there is; others are named."""
    study = chapter.of("pomo")["cvrp"]
    assert [(v.name, v.main, len(v.runs)) for v in study.variants] == [
        ("fine-tuning", True, 4),
        ("llr-bc", True, 4),
        ("-α(10)", False, 1),
        ("-KLD", False, 1),
    ]
    assert chapter.solvers == ["pomo", "omni"]
    assert list(chapter.orders.values()) == ["1", "2"]


@pytest.mark.parametrize(
    ("options", "settings", "name"),
    [
        ({"buffer_size": 250}, {}, "-|B|(250)"),
        ({"replay_size": 4, "alpha": 1.0}, {}, "-α(1) -|E|(4)"),
        ({"weighting": "uniform"}, {}, "-nEW"),
        ({"ablation": "IB", "bundle_size": 0, "buffer_size": 20, "replay_size": 1}, {}, "-IB"),
        ({"ablation": "KLD", "divergence": "kl", "alpha": 5.0}, {}, "-KLD -α(5)"),
        ({}, {"epochs": 8}, "-epochs(8)"),
        ({}, {"learning_rate": 0.01}, "-learning_rate(0.01)"),
        ({}, {"seed": 3, "curve_every": 2}, ""),
    ],
)
def test_variants_have_the_papers_names(options, settings, name):
    """What differs is named once, ablations by their short names; seeds are no difference."""
    usual = synthetic_runs.config(method_options=LLR_BC)
    other = synthetic_runs.config(method_options={**LLR_BC, **options}, **settings)
    assert variant_name(other, usual) == name


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


def test_what_was_varied_stands_beside_the_default_with_the_same_orders_and_seeds(chapter):
    """Nothing was varied in order 2 nor with seed 1, so neither counts for the default."""
    (sheet,) = metric_tables.varied(chapter)
    assert [row[0].shown for row in sheet.rows] == ["-α(10)", "-KLD", "default"]
    assert [row[1].shown for row in sheet.rows] == ["1", "1", "1"]


def test_what_was_varied_elsewhere_has_a_separate_default(root, tmp_path):
    """A setting with two seeds is not held against a mean over other seeds, nor changes it."""
    for seed in (0, 1):
        write(tmp_path, f"units-{seed}", options={"replay_size": 4}, seed=seed)
    (more,) = chapters(collect([root, tmp_path]).runs)
    (sheet,) = metric_tables.varied(more)
    assert [[[cell.shown for cell in row[:2]] for row in block] for block in sheet.blocks] == [
        [["-|E|(4)", "2"], ["default", "2"]],
        [["-α(10)", "1"], ["-KLD", "1"], ["default", "1"]],
    ]


def test_means_over_different_orders_are_not_set_against_each_other(root, tmp_path):
    """A method with order 1 alone stands beside the others in that order, in a separate block."""
    write(tmp_path, "ewc", "ewc")
    (more,) = chapters(collect([root, tmp_path]).runs)
    (sheet,) = metric_tables.over_orders(more)
    assert [[[cell.shown for cell in row[:3]] for row in block] for block in sheet.blocks] == [
        [["fine-tuning", "1, 2", "4"], ["llr-bc", "1, 2", "4"]],
        [["fine-tuning", "1", "2"], ["ewc", "1", "1"], ["llr-bc", "1", "2"]],
    ]
    assert sheet.columns[:3] == ("method", "orders", "CVRP runs")


def test_what_learns_all_tasks_at_once_is_no_lifelong_learning(root, tmp_path):
    """It neither sets d*, nor has forgetting or plasticity, nor is drawn; its AP is known."""
    path = write(tmp_path, "at-once", "multi-task-epoch", "2")
    costs = path / "costs.csv"
    lines = costs.read_text().splitlines()
    better = [f"{line.rpartition(',')[0]},0.5" for line in lines[1:]]
    costs.write_text("\n".join([lines[0], *better]) + "\n")
    (before,), (after,) = (chapters(collect(f).runs) for f in ([root], [root, tmp_path]))
    study = after.of("pomo")["cvrp"]
    assert study.best == before.of("pomo")["cvrp"].best
    (variant,) = [each for each in study.main if each.method == "multi-task-epoch"]
    found = study.metrics(variant.runs[0])
    assert found.AP < 0
    assert all(math.isnan(x) for x in (found.AF, found.AMF, found.APl, found.AG))
    names = [group.label for group in study.comparison(variant.runs[0].names).groups]
    assert names == ["fine-tuning", "llr-bc"]
    assert "multi-task-epoch" not in [r[0].shown for r in metric_tables.over_orders(after)[0].rows]
    alone = chapters(collect([tmp_path]).runs)[0].of("pomo")["cvrp"]
    assert alone.metrics(variant.runs[0]).AP == 0


def test_other_solvers_stand_apart(chapter):
    """Each has a separate block and d*; only orders that another solver has count."""
    (sheet,) = metric_tables.applicability(chapter)
    assert [[row[0].shown for row in block] for block in sheet.blocks] == [
        ["fine-tuning (pomo)", "llr-bc (pomo)"],
        ["fine-tuning (omni)"],
    ]
    assert [row[1].shown for row in sheet.rows] == ["2", "2", "1"]
    omni = chapter.of("omni")["cvrp"]
    assert omni.best != chapter.of("pomo")["cvrp"].best


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
    """With a single task what is not defined is a dash."""
    write(tmp_path, "one", "fine-tuning")
    of = synthetic_runs.config(distributions=("E",))
    synthetic_runs.write(tmp_path / "single", of)
    first, second = chapters(collect([tmp_path]).runs)
    assert first.key != second.key
    (sheet,) = metric_tables.over_orders(second)
    assert [cell.shown for cell in sheet.rows[0]][2:] == ["0.0", "-", "-", "0.0", "-"]
    assert metric_tables.applicability(first) == []
    assert metric_tables.varied(first) == []


def test_distances_show_gaps_where_references_are(chapter, tmp_path):
    """Mean cost over mean reference, minus 1; tasks without references show the cost alone."""
    task = next(t for t in chapter.studies[0].variants[0].runs[0].config.tasks if t.label == "U10")
    (group,) = streams.testing(task, registry.problem("cvrp"), 64)
    costs = np.linspace(5, 7, 64)
    fields = {name: getattr(group, name).numpy() for name in ("depot", "nodes", "demand")}
    np.savez(tmp_path / "cvrp-U10.npz", reference_cost=costs, **fields)
    (plain,), _ = cost_sheets(chapter, Places(tmp_path / "absent"))
    assert plain.title == "Mean cost on CVRP (pomo)"
    (sheet, varied, other), notes = cost_sheets(chapter, Places(tmp_path))
    assert notes == []
    assert sheet.header == ("order", "method", "E20", "C40", "U10")
    assert [cell.shown for cell in sheet.rows[0]] == ["", "reference", "-", "-", "6.000"]
    runs = [r for r in chapter.of("pomo")["cvrp"].variants[0].runs if r.config.order == "1"]
    cost = statistics.fmean(run.costs[-1][2] for run in runs)
    found = next(r for r in sheet.rows if [c.shown for c in r[:2]] == ["1", "fine-tuning"])
    assert found[4].shown == f"{cost:.3f} ({cost / 6 - 1:.1%})"
    assert float(found[4].parts["gap_fraction"]) == pytest.approx(cost / 6 - 1, abs=1e-5)
    assert "(" not in found[2].shown
    assert f"the gap to the mean reference in {tmp_path}." in sheet.note
    # What was varied and other solvers have gaps to the same references in separate sheets.
    assert (varied.key, other.key) == ("distances-cvrp-varied", "distances-cvrp-omni")
    assert {row[1].shown for row in varied.rows} == {"reference", "llr-bc -α(10)", "llr-bc -KLD"}
    (run,) = chapter.of("omni")["cvrp"].variants[0].runs
    cost = run.costs[-1][2]
    assert other.rows[1][-1].shown == f"{cost:.3f} ({cost / 6 - 1:.1%})"
    assert other.rows[0][-1].shown == "6.000"


def test_references_that_cannot_be_read_are_named(chapter, tmp_path):
    """The costs are there, and a note says which file is at fault."""
    (tmp_path / "cvrp-U10.npz").write_text("torn")
    (sheet,), (note,) = cost_sheets(chapter, Places(tmp_path))
    assert sheet.key == "distances-cvrp"
    assert note.startswith(f"references of cvrp: no gap on U10: {tmp_path / 'cvrp-U10.npz'}: ")


def test_restart_is_measured_just_after_each_task(tmp_path):
    """As in the paper its distances are those of solvers of one task each."""
    folder = write(tmp_path, "restart", "restart")
    (one,) = chapters(collect([folder]).runs)
    (sheet,), _ = cost_sheets(one, Places(tmp_path / "absent"))
    costs = one.studies[0].variants[0].runs[0].costs
    assert [cell.shown for cell in sheet.rows[0][1:]] == [f"{costs[i][i]:.3f}" for i in range(3)]
