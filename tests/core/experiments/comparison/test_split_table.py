"""The table of the parts of AP."""

from pathlib import Path

import pytest
import synthetic_runs

from lifelong_co.experiments.comparison import split_table, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page


def test_parts_add_up_to_ap(comparison: Comparison) -> None:
    """For each run, and AP is that of the metrics."""
    for run in comparison.runs:
        ap, learned, forgotten, regained = split_table.split_of(run, comparison.best)
        found = comparison.metrics(run)
        assert ap == pytest.approx(found.AP)
        assert learned == pytest.approx(found.APl)
        assert ap == pytest.approx(learned + forgotten - regained)
        k = len(run.names)
        assert forgotten == pytest.approx(found.AF * (k - 1) / k)


def test_table_has_mean_and_deviation_over_seeds(comparison: Comparison) -> None:
    """The first columns are those of the table of metrics."""
    sheet = split_table.split_table(comparison)
    metrics = tables.metrics_table(comparison)
    assert sheet.header[2:] == ("AP", "never learned", "forgotten", "gained back")
    for row, of in zip(sheet.rows, metrics.rows, strict=True):
        assert [row[i].shown for i in (0, 1, 2, 3)] == [of[i].shown for i in (0, 1, 2, 5)]


def test_split_is_in_text_if_asked_and_in_json_and_page(comparison: Comparison) -> None:
    """The text is short without it."""
    assert "never learned" not in tables.as_text(comparison)
    assert "never learned" in tables.as_text(comparison, split=True)
    parts = tables.as_json(comparison)["groups"][0]["runs"][0]["split"]
    assert set(parts) == {"never_learned", "forgotten", "gained_back"}
    assert "never learned" in page(make_report(comparison, {}))


def test_method_that_learns_all_at_once_has_no_split(tmp_path: Path) -> None:
    """Its tasks have no order, so nothing is forgotten."""
    of = synthetic_runs.config("multi-task-epoch")
    alone = compare_folders([synthetic_runs.write(tmp_path / "a", of)])
    assert not split_table.split_table(alone).rows
    assert "never learned" not in tables.as_text(alone, split=True)
    assert tables.as_json(alone)["groups"][0]["runs"][0]["split"] is None
    assert "never learned" not in page(make_report(alone, {}))
