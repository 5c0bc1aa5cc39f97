"""The report as files: whole, in every form, refused where something is."""

from pathlib import Path

import pytest
import synthetic_runs

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.page import page
from lifelong_co.experiments.paper.assemble import make_report
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.write import older_files, printed, write_report
from lifelong_co.experiments.references.places import Places


def test_every_table_is_written_in_every_form(report, tmp_path):
    """Four files for each table, one for each picture, and the page."""
    written = write_report(report, tmp_path / "out")
    names = {str(path.relative_to(tmp_path / "out")) for path in written}
    keys = {sheet.key for sheet in report.sheets}
    assert {"metrics", "per-order-tsp", "distances-cvrp", "benchmarks", "benchmark-cvrplib"} <= keys
    assert len(keys) == len(report.sheets)
    forms = ("txt", "md", "tex", "csv")
    assert {f"tables/{key}.{form}" for key in keys for form in forms} < names
    assert len(names) == 4 * len(keys) + len(report.pictures) + 1
    assert all(path.stat().st_size for path in written)


def test_summary_of_benchmarks_is_that_of_the_paper(report):
    """Methods by libraries, in 10^-3 above the best of them."""
    (sheet,) = (sheet for sheet in report.sheets if sheet.key == "benchmarks")
    assert sheet.header == ("method", "CVRPLIB")
    assert [[cell.shown for cell in row] for row in sheet.rows] == [
        ["llr-bc", "0.00"],
        ["fine-tuning", f"{1000 * (29 / 28 - 1):.2f}"],
    ]
    assert sheet.best() == {(0, 1)}


def test_existing_reports_are_not_overwritten_by_default(report, tmp_path):
    """A folder with a report, or part of one, is refused; files of an earlier one are named."""
    (tmp_path / "tables").mkdir()
    old = tmp_path / "tables" / "old.txt"
    old.write_text("mine")
    with pytest.raises(ConfigError, match=r"holds tables already.*--overwrite"):
        write_report(report, tmp_path)
    written = write_report(report, tmp_path, overwrite=True)
    assert older_files(tmp_path, written) == [old]
    with pytest.raises(ConfigError, match="expected a folder for the report, found a file"):
        write_report(report, old)


@pytest.mark.parametrize(
    ("form", "sign"),
    [("text", "-----"), ("markdown", "| --- |"), ("latex", r"\toprule"), ("csv", "# Metrics")],
)
def test_all_tables_are_printed_in_one_form(report, form, sign):
    """Each table's title is there, and the form's own signs."""
    text = printed(report, form)
    assert sign in text
    assert text.count("Metrics in each order on") == 2


def test_runs_on_other_tasks_are_another_part(tmp_path):
    """Files of different parts have different names."""
    for name, distributions in (("one", ("E", "C")), ("other", ("U", "C"))):
        of = synthetic_runs.config(distributions=distributions)
        synthetic_runs.write(tmp_path / name, of)
    report = make_report(collect([tmp_path]), Places(tmp_path / "absent"), str)
    keys = [sheet.key for sheet in report.sheets]
    assert len(set(keys)) == len(keys)
    assert {"small-metrics", "small-2-metrics"} <= set(keys)


def test_without_matplotlib_the_tables_still_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page then says how to get the figures."""
    monkeypatch.setattr(figures, "available", lambda: False)
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    report = make_report(collect([folder]), Places(tmp_path / "absent"), str)
    assert report.pictures == []
    assert "pip install &#x27;lifelong-co[plot]&#x27;" in page(report)
