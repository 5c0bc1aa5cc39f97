"""Optimality gaps in every form of a comparison, where there are references."""

import csv
import io
from pathlib import Path

import pytest
import synthetic_runs
from synthetic_references import lay

from lifelong_co import registry
from lifelong_co.experiments.comparison import publish, tables
from lifelong_co.experiments.comparison.comparison import compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page
from lifelong_co.experiments.references import gaps
from lifelong_co.experiments.references.places import Places
from lifelong_co.tasks import instances as streams

MEANS = {"E20": 10.0, "U10": 6.0}
OWN, THEIRS = Path("own"), Path("theirs")
FOUND = gaps.MeanReferences(
    Places(OWN, (THEIRS,)), MEANS, {"E20": (OWN, THEIRS), "U10": (OWN, THEIRS)}
)
NOTHING = gaps.MeanReferences(Places(OWN), {}, {})


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    """Two seeds of one method."""
    root = tmp_path_factory.mktemp("runs")
    return compare_folders(
        [synthetic_runs.write(root / str(i), synthetic_runs.config(seed=i)) for i in (0, 1)]
    )


def test_every_form_has_the_same_gap(comparison):
    """The mean over seeds of the cost after the last task, over the mean reference, minus 1."""
    cost = (comparison.runs[0].costs[-1][2] + comparison.runs[1].costs[-1][2]) / 2
    gap = cost / 6 - 1
    row = next(csv.DictReader(io.StringIO(tables.as_csv(comparison, MEANS))))
    assert float(row["U10_cost"]) == pytest.approx(cost, rel=1e-5)
    assert float(row["U10_gap"]) == pytest.approx(gap, abs=1e-6)
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


def test_without_references_nothing_speaks_of_them(comparison):
    """Columns, keys and the section are left out, also where they were looked for."""
    assert "gap" not in tables.as_csv(comparison)
    data = tables.as_json(comparison)
    assert "references" not in data
    assert "gaps" not in data["groups"][0]
    assert make_report(comparison, {}, NOTHING) == make_report(comparison, {})
    assert tables.GAPS not in page(make_report(comparison, {}))
    assert tables.as_text(comparison, NOTHING) == tables.as_text(comparison)


def test_a_written_comparison_has_them_too(comparison, tmp_path):
    """Text, CSV and page in the folder; they say which references were used."""
    publish.write_report(comparison, tmp_path / "out", references=FOUND)
    for name in ("table.txt", "report.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert f"{tables.GAPS} in own and theirs (published)" in text
    assert "E20_gap" in (tmp_path / "out" / "table.csv").read_text()


def test_tasks_of_different_origin_are_told_apart():
    """Each origin with its tasks."""
    folders = {"E20": (OWN,), "U10": (THEIRS,), "R20": (OWN,)}
    found = gaps.MeanReferences(Places(OWN), dict.fromkeys(folders, 1.0), folders)
    assert found.origin == "in own for E20, R20; in theirs (published) for U10"


def test_a_runs_own_report_has_gaps(tmp_path):
    """On the tasks whose test instances all have a reference; one that is damaged is named."""
    of = synthetic_runs.config()
    folder = synthetic_runs.write(tmp_path / "run", of)
    before = publish.write_run_report(folder).read_text(encoding="utf-8")
    lay(tmp_path / "references", of.tasks[2], of.tests, 6.0)
    (tmp_path / "references" / "cvrp-C40.npz").write_text("torn")
    found = gaps.mean_references(of, Places(tmp_path / "references"))
    assert found.means == {"U10": pytest.approx(6.0)}
    text = publish.write_run_report(folder, references=found).read_text(encoding="utf-8")
    cost = compare_folders([folder]).runs[0].costs[-1][2]
    assert f"{cost:.4f} ({cost / 6 - 1:.2%})" in text
    assert f"{tables.GAPS} in {tmp_path / 'references'}." in text
    assert "no gap on C40: " in text
    assert tables.GAPS not in before
    drawn = [streams.testing(task, registry.problem("cvrp"), of.tests) for task in of.tasks]
    assert gaps.mean_references(of, Places(tmp_path / "references"), drawn).means == found.means
    absent = gaps.mean_references(of, Places(tmp_path / "absent"))
    unchanged = publish.write_run_report(folder, references=absent).read_text(encoding="utf-8")
    assert unchanged == before
