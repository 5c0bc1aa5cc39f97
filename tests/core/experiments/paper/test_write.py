"""The report as files: whole, in every form, never overwritten by default."""

import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.paper.write import older_files, printed, write_report
from lifelong_co.storage import lock


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


def test_existing_reports_are_not_overwritten_by_default(report, tmp_path):
    """A folder with a report, or part of one, is refused; files of an earlier one are named."""
    (tmp_path / "tables").mkdir()
    old = tmp_path / "tables" / "old.txt"
    old.write_text("mine")
    with pytest.raises(ConfigError, match=r"holds tables already.*pass overwrite"):
        write_report(report, tmp_path)
    written = write_report(report, tmp_path, overwrite=True)
    assert older_files(tmp_path, written) == [old]
    with pytest.raises(ConfigError, match="expected a folder, got a file"):
        write_report(report, old)


def test_files_of_a_killed_process_are_removed(report, tmp_path):
    """Files of other names stay; a process at work in the folder is not disturbed."""
    (tmp_path / "tables").mkdir()
    for name in ("tables/.metrics.txt.0a1b2c3d.tmp", ".report.html.0a1b2c3d.tmp", ".mine.tmp"):
        (tmp_path / name).write_text("half")
    with (
        lock.locked(tmp_path, ""),
        pytest.raises(ConfigError, match="another process writes a report here"),
    ):
        write_report(report, tmp_path, overwrite=True)
    write_report(report, tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.rglob(".*")] == [".mine.tmp"]
    assert not (tmp_path / lock.FILE).exists()


@pytest.mark.parametrize(
    ("form", "sign"),
    [("text", "-----"), ("markdown", "| --- |"), ("latex", r"\toprule"), ("csv", "# Metrics")],
)
def test_all_tables_are_printed_in_one_form(report, form, sign):
    """Each table's title is there, and the form's own signs."""
    text = printed(report, form)
    assert sign in text
    assert text.count("Metrics in each order on") == 2
