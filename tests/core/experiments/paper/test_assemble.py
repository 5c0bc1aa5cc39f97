"""The report of runs and benchmarks, with parts that are missing."""

from pathlib import Path

import imported_starts
import pytest
import synthetic_runs
from synthetic_benchmarks import solved

from lifelong_co.experiments.benchmark.results import Benchmark
from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.page import page
from lifelong_co.experiments.paper.assemble import make_report
from lifelong_co.experiments.paper.collect import Found, collect
from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.places import Places


def test_runs_on_other_tasks_are_another_part(tmp_path):
    """Files of different parts have different names."""
    for name, distributions in (("one", ("E", "C")), ("other", ("U", "C"))):
        of = synthetic_runs.config(distributions=distributions)
        synthetic_runs.write(tmp_path / name, of)
    report = make_report(collect([tmp_path]), Places(tmp_path / "absent"), str)
    keys = [sheet.key for sheet in report.sheets]
    assert len(set(keys)) == len(keys)
    assert {"small-metrics", "small-2-metrics"} <= set(keys)


def test_orders_with_similar_names_have_figures_of_their_own(tmp_path: Path) -> None:
    """An order of the paper, and a task file that has its name in capital letters."""
    for name, order in (("one", "1"), ("other", str(tmp_path / "Order-1.toml"))):
        distributions = ("E", "C") if name == "one" else ("C", "E")
        of = synthetic_runs.config(distributions=distributions, order=order)
        synthetic_runs.write(tmp_path / name, of)
    report = make_report(collect([tmp_path]), Places(tmp_path / "absent"), str)
    names = [picture.key.lower() for picture in report.pictures]
    assert len(names) > 3
    assert len(set(names)) == len(names)
    keys = [sheet.key.lower() for sheet in report.sheets]
    assert len(set(keys)) == len(keys)


def test_a_run_of_one_task_alone_has_no_gap(tmp_path: Path) -> None:
    """Its cost has nothing to be compared with; `compare` says so, too."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config(distributions=("E",)))
    report = make_report(collect([folder]), Places(tmp_path / "absent"), str)
    (sheet,) = (sheet for sheet in report.sheets if sheet.key == "metrics")
    assert [cell.shown for cell in sheet.rows[0][-5:]] == ["-"] * 5
    assert not [sheet for sheet in report.sheets if sheet.key.startswith("split")]


def test_multi_task_runs_alone_have_no_curves(tmp_path: Path) -> None:
    """They learn no task after another; it is not for want of matplotlib. Nothing drifts."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config("multi-task-epoch"))
    (folder / "checkpoints" / "after-task-1").mkdir(parents=True)
    (folder / "checkpoints" / "after-task-1" / "parameters.safetensors").touch()
    said: list[str] = []
    report = make_report(collect([folder]), Places(tmp_path / "absent"), said.append)
    expected = "Forgetting and plasticity: needs runs of a lifelong-learning method."
    assert expected in report.missing
    assert not [line for line in said if line.startswith("looking for a drifted decision")]


def test_without_matplotlib_the_tables_still_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page then says how to get the figures."""
    monkeypatch.setattr(figures, "available", lambda: False)
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    report = make_report(collect([folder]), Places(tmp_path / "absent"), str)
    assert report.pictures == []
    assert "pip install &#x27;lifelong-co[plot]&#x27;" in page(report)


def test_new_references_update_the_tables(tmp_path):
    """Without solving; one that cannot be read is named and costs nothing else."""
    place = Cache(tmp_path / "references").place("cvrp", "ab12")
    place.parent.mkdir(parents=True)
    place.write_text(
        '{"name": "a", "size": 9, "cost": 80, "actions": [], "proven": false, "solver": "x",'
        ' "version": "1", "settings": {}, "seconds": 1}'
    )
    found = Found(
        (), (Benchmark(tmp_path, {"library": "cvrplib"}, solved(instance_key="ab12")),), ()
    )

    def known():
        report = make_report(found, Places(tmp_path / "references"), str)
        (sheet,) = (sheet for sheet in report.sheets if sheet.key == "benchmark-cvrplib-costs")
        return sheet.rows[0][2].shown, report.left_out

    assert known() == ("80", ())
    place.write_text("{}")
    best, (left_out,) = known()
    assert best == "100"
    assert left_out.startswith(f"references of {tmp_path}: {place}: expected a reference as JSON")


def test_start_without_runs_of_its_problem_is_left_out(tmp_path):
    """A run gives the test instances; the runs here are on another problem."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    imported_starts.write(tmp_path / "start", "tsp")
    report = make_report(collect([folder, tmp_path / "start"]), Places(tmp_path / "absent"), str)
    (line,) = report.left_out
    assert line == f"{tmp_path / 'start'}: needs runs on tsp, whose test instances it solves"


def test_published_report_says_so(root):
    """In the titles of the tables of metrics, in their notes and in the meanings."""
    report = make_report(collect([root]), Places(root / "absent"), str, definition="published")
    titled = [sheet for sheet in report.sheets if sheet.title.endswith(", as published")]
    keys = {"metrics", "hyperparameters", "applicability", "per-order-cvrp", "runs"}
    assert {sheet.key for sheet in titled} == keys
    assert "population standard deviation" in titled[0].notes
    assert report.meanings["AF"].startswith("Average forgetting as published")
