"""Optimality gaps in every form of a comparison, where there are references."""

import csv
import io

import pytest
import synthetic_runs

from lifelong_co.report import gaps, html, publish, tables
from lifelong_co.report.comparison import compare_folders

MEANS = {"E20": 10.0, "U10": 6.0}


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
    assert f"{cost:.4f} ({gap:.2%})" in html.page(comparison, {}, MEANS)


def test_without_references_nothing_speaks_of_them(comparison):
    """Columns, keys and the section are left out."""
    assert "gap" not in tables.as_csv(comparison)
    data = tables.as_json(comparison)
    assert "references" not in data
    assert "gaps" not in data["groups"][0]
    assert gaps.CAPTION not in html.page(comparison, {})


def test_a_written_comparison_has_them_too(comparison, tmp_path):
    """Text, CSV and page in the folder."""
    found = gaps.MeanReferences(tmp_path / "references", MEANS)
    publish.write_report(comparison, tmp_path / "out", references=found)
    for name in ("table.txt", "report.html"):
        assert gaps.CAPTION in (tmp_path / "out" / name).read_text(encoding="utf-8")
    assert "E20_gap" in (tmp_path / "out" / "table.csv").read_text()
