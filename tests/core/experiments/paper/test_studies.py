"""Runs sorted by method, variant and order."""

import math
import statistics

import pytest
import synthetic_runs
from synthetic_chapters import write

from lifelong_co import metrics
from lifelong_co.experiments.paper import metric_tables
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.studies import chapters


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


def test_multi_task_is_not_among_the_lifelong_methods(root, tmp_path):
    """It neither sets d*, nor has forgetting or plasticity, nor is drawn; its AP is known."""
    path = write(tmp_path, "at-once", "multi-task-epoch", "2")
    costs = path / "costs.csv"
    lines = costs.read_text().splitlines()
    better = [f"{line.rpartition(',')[0]},0.5" for line in lines[1:]]
    costs.write_text("\n".join([lines[0], *better]) + "\n")
    (path / "costs.csv.sha256").unlink()
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


def test_chapters_with_one_title_are_named_apart(root, tmp_path):
    """Other tasks of the same preset and number: the title has the problem and the tasks."""
    other = synthetic_runs.config("fine-tuning", ("C", "G", "R"), order="own")
    synthetic_runs.write(tmp_path / "other", other)
    titles = [one.title for one in chapters(collect([root, tmp_path]).runs)]
    assert titles == [
        "Preset small, 3 tasks: CVRP, E20 to U10",
        "Preset small, 3 tasks: CVRP, C40 to R10",
    ]
    assert [one.title for one in chapters(collect([root]).runs)] == ["Preset small, 3 tasks"]


def test_two_orders_of_one_name_are_called_by_their_tasks(tmp_path):
    """Say files of one name in two folders; a run with further tasks has the name of the last."""
    for folder, tasks in (("a", "CGR"), ("b", "GRC")):
        other = synthetic_runs.config("fine-tuning", tuple(tasks), order=f"{folder}/june.toml")
        synthetic_runs.write(tmp_path / folder, other)
    (chapter,) = chapters(collect([tmp_path]).runs)
    assert list(chapter.orders.values()) == [" → ".join(names) for names in chapter.orders]


def test_other_images_at_test_are_another_study(tmp_path):
    """Runs that test on other images have no common d*."""
    for symmetries in ("square", "random"):
        of = synthetic_runs.config(augment=True, symmetries=symmetries)
        synthetic_runs.write(tmp_path / symmetries, of)
    (chapter,) = chapters(collect([tmp_path]).runs)
    assert chapter.solvers == ["pomo, 8 images", "pomo, 8 random images"]


def test_chapters_have_different_keys(tmp_path):
    """Also if one is called as another one would be numbered: no file is written twice."""
    for i, (order, tests) in enumerate([("tasks", 64), ("tasks", 1000), ("tasks-2", 8)]):
        of = synthetic_runs.config("fine-tuning", order=f"{order}.toml", tests=tests)
        synthetic_runs.write(tmp_path / str(i), of)
    found = chapters(collect([tmp_path]).runs)
    assert [one.key for one in found] == ["tasks", "tasks-2", "tasks-2-2"]


def test_no_run_of_a_variant_stands_for_another(tmp_path):
    """Tasks that drift from other tasks are another variant; a run is not counted twice."""
    for source in ("", "G", "R"):
        of = synthetic_runs.config("fine-tuning", task={"drift_from": source}, order="tasks.toml")
        synthetic_runs.write(tmp_path / f"drift{source}", of)
    elsewhere = synthetic_runs.config("fine-tuning", order="/elsewhere/tasks.toml")
    path = synthetic_runs.write(tmp_path / "twice", elsewhere)
    found = collect([tmp_path])
    assert [line.partition(":")[0] for line in found.left_out] == [str(path)]
    (chapter,) = chapters(found.runs)
    (study,) = chapter.studies
    names = [(variant.name, len(variant.runs)) for variant in study.variants]
    assert names == [
        ("fine-tuning", 1), ("-drift(E20 from G)", 1), ("-drift(E20 from R)", 1)
    ]  # fmt: skip


def test_published_metrics_have_another_d_star(root):
    """All tables of a chapter use one definition: d* over every test, population deviation."""
    runs = collect([root]).runs
    (text,), (published,) = chapters(runs), chapters(runs, "published")
    assert (text.definition, published.definition) == ("text", "published")
    study = published.of("pomo")["cvrp"]
    every = [run for variant in study.variants for run in variant.runs]
    assert study.best["E20"] == min(run.least["E20"] for run in every)
    run = every[0]
    best = [study.best[name] for name in run.names]
    assert study.metrics(run) == metrics.summarize(run.costs, best, definition="published")
    orders = study.main[0].runs
    means = [study.spreads([r for r in orders if r.names == o])["AP"].mean for o in study.orders]
    assert study.spreads(orders)["AP"].deviation == pytest.approx(statistics.pstdev(means))
    (order, *_) = study.orders
    assert study.comparison(order).definition == "published"
