"""Tables of a comparison: metrics, costs, and gaps where there are references."""

import csv
import html
import io
import json
import re
from itertools import takewhile
from pathlib import Path

import attrs
import pytest
import synthetic_runs
from synthetic_references import FOUND, MEANS, OWN

from lifelong_co.experiments.comparison import publish, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page
from lifelong_co.experiments.references import gaps
from lifelong_co.experiments.references.places import Places
from lifelong_co.runs import measured


def test_multi_task_has_only_ap(tmp_path: Path) -> None:
    """Over several seeds as well; the caption says that it sets no d*."""
    paths = [
        synthetic_runs.write(tmp_path / f"{method}{seed}", synthetic_runs.config(method, seed=seed))
        for method in ("multi-task-epoch", "fine-tuning")
        for seed in (0, 1)
    ]
    found = compare_folders(paths)
    text = tables.as_text(found)
    row = next(line for line in text.splitlines() if line.startswith("multi-task-epoch"))
    assert re.fullmatch(r"multi-task-epoch +2 +-?[\d.]+ \([\d.]+\) +- +- +- +-", row)
    assert "d* of these 4 runs except multi-task" in text.replace("\n", " ")
    alone = tables.as_text(compare_folders(paths[:2]))
    assert "except multi-task" not in alone.replace("\n", " ")
    values = tables.as_json(found)["groups"][0]["runs"][0]["metrics"]
    assert values["AF"] is None
    lines = text.splitlines()
    first = lines.index(next(each for each in lines if "cost, multi-task-epoch" in each))
    rows = list(takewhile(bool, lines[first + 4 :]))
    assert [row.split("  ")[0] for row in rows] == ["all tasks"]
    two_rows = [{0: 1.0, 1: 2.0}, {0: 1.5, 1: 1.0}]
    content = measured.content(two_rows, synthetic_runs.config("multi-task-batch"))
    assert content["metrics"]["AF"] is None


def test_the_metrics_table_shows_mean_and_spread_in_thousandths(comparison: Comparison) -> None:
    """A cell is the mean over seeds and their sample standard deviation, times 1,000."""
    header, first, _ = tables.metrics_table(comparison).shown
    assert header == ["method", "runs", "AP", "AF", "AMF", "APl", "AG"]
    one, two = (comparison.metrics(run).AG * 1e3 for run in comparison.groups[0].runs)
    assert one != two
    assert first[6] == f"{(one + two) / 2:.1f} ({abs(one - two) / 2**0.5:.1f})"
    assert "10^-3, lower is better" in tables.caption(comparison)
    assert "standard deviation" in tables.caption(comparison)


def test_the_text_has_columns_of_fixed_width(comparison: Comparison) -> None:
    """Every cell of a column ends at the same place, and each group has its cost matrix."""
    text = tables.as_text(comparison)
    table = text.split("\n\n")[1].splitlines()
    assert len({len(line) for line in table}) == 1
    assert "Mean test cost, fine-tuning (mean of 2 runs)" in text
    cost = comparison.groups[1].cost
    assert f"{cost(2, 0):.4f}" in text
    assert cost(2, 0) == pytest.approx(sum(r.costs[2][0] for r in comparison.runs[2:]) / 2)


def test_csv_and_json_hold_the_same_metrics(comparison: Comparison) -> None:
    """CSV is in thousandths, as its header says; JSON in plain fractions, run by run."""
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(comparison))))
    data = json.loads(json.dumps(tables.as_json(comparison), allow_nan=False))
    for row, group in zip(rows, data["groups"], strict=True):
        mean = sum(run["metrics"]["AP"] for run in group["runs"]) / 2
        assert float(row["AP_1e-3"]) == pytest.approx(mean * 1e3, rel=1e-4)
    assert data["best"] == comparison.best


def test_a_single_task_leaves_undefined_metrics_out(tmp_path: Path) -> None:
    """With one task AF is a dash in the table, empty in CSV and null in JSON; alone AP is, too."""
    config = synthetic_runs.config(distributions=("E",))
    folder = synthetic_runs.write(tmp_path / "run", config)
    other = synthetic_runs.write(tmp_path / "other", attrs.evolve(config, seed=config.seed + 1))
    two = tables.metrics_table(compare_folders([folder, other]))
    assert [cell == "-" for cell in two.shown[1][2:]] == [False, True, True, False, True]
    found = compare_folders([folder])
    assert tables.metrics_table(found).shown[1][2:] == ["-", "-", "-", "-", "-"]
    assert "nothing to be compared with" in tables.as_text(found, split=True)
    assert "never learned" not in tables.as_text(found, split=True)
    assert next(csv.DictReader(io.StringIO(tables.as_csv(found))))["AF_1e-3"] == ""
    assert tables.as_json(found)["groups"][0]["runs"][0]["metrics"]["AF"] is None
    assert publish.write_run_report(folder).exists()


NOTHING = gaps.MeanReferences(Places(OWN), {}, {})


def test_every_form_has_the_same_gap(comparison):
    """The mean over seeds of the cost after the last task, over the mean reference, minus 1."""
    cost = (comparison.runs[0].costs[-1][2] + comparison.runs[1].costs[-1][2]) / 2
    gap = cost / 6 - 1
    row = next(csv.DictReader(io.StringIO(tables.as_csv(comparison, MEANS))))
    assert float(row["U10_cost"]) == pytest.approx(cost, rel=1e-5)
    assert float(row["U10_gap_fraction"]) == pytest.approx(gap, abs=1e-6)
    data = tables.as_json(comparison, MEANS)
    assert data["groups"][0]["gaps"]["U10"] == pytest.approx(gap)
    assert data["references"] == MEANS
    assert f"{cost:.4f} ({gap:.2%})" in page(make_report(comparison, {}, FOUND))
    assert f"{cost:.4f} ({gap:.2%})" in tables.as_text(comparison, FOUND)


def test_restart_is_measured_just_after_learning_each_task(tmp_path):
    """The row of the last task counts for other methods only; the table says so."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config("restart"))
    found = compare_folders([folder])
    costs = found.runs[0].costs
    assert list(found.runs[0].final.values()) == [costs[i][i] for i in range(3)]
    sheet = tables.gap_table(found, FOUND)
    assert sheet.rows[1][1].shown.startswith(f"{costs[0][0]:.4f} (")
    assert sheet.note == "restart is measured on each task just after learning it."


def test_output_without_references_has_no_gaps(comparison):
    """Columns, keys and the section are left out, also where they were looked for."""
    assert "gap" not in tables.as_csv(comparison)
    data = tables.as_json(comparison)
    assert "references" not in data
    assert "gaps" not in data["groups"][0]
    assert make_report(comparison, {}, NOTHING) == make_report(comparison, {})
    assert tables.GAPS not in page(make_report(comparison, {}))
    assert tables.as_text(comparison, NOTHING) == tables.as_text(comparison)


def test_output_names_the_definition(folders: list[Path], comparison: Comparison) -> None:
    """Text, JSON and page say whether the metrics are those of the text or as published."""
    published = compare_folders(folders, "published")
    for of, said in ((comparison, "by the paper's text"), (published, "as published, without")):
        assert f"AF and AMF {said}" in tables.as_text(of)
        assert f"AF and AMF {said}" in html.unescape(page(make_report(of, {})))
        assert tables.as_json(of)["definition"] == of.definition
    assert "population standard deviation" in tables.caption(published)
    assert "lowest cost d* of these 4 runs in any test" in tables.caption(published)


def test_published_gaps_are_shown_where_they_are_known(folders: list[Path]) -> None:
    """A group has the mean over its seeds; a dash, an empty cell or null if a seed has no gap."""
    found = compare_folders(folders, "published")
    known = {run.path: {"E20": i / 10, "U10": 0.5} for i, run in enumerate(found.runs[:3])}
    found = attrs.evolve(found, instance_gaps=known)
    sheet = tables.gap_table(found, FOUND)
    assert [row[1].shown.partition(" ")[2] for row in sheet.rows] == ["", "(5.00%)", "(-)"]
    assert "mean over the instances" in sheet.note
    first, second = csv.DictReader(io.StringIO(tables.as_csv(found, MEANS)))
    assert (first["E20_gap_fraction"], second["E20_gap_fraction"]) == ("0.050000", "")
    groups = tables.as_json(found, MEANS)["groups"]
    assert [group["gaps"]["U10"] for group in groups] == [0.5, None]
