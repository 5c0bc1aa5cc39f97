"""The report as a page and as files: self-contained, whole, refused where something is."""

import re
from pathlib import Path

import pages
import pytest
import synthetic_runs

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.benchmark.results import Result, save
from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.page import page
from lifelong_co.experiments.paper.assemble import make_report
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.write import older_files, printed, write_report
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.report import Part, Picture, Report, Section
from lifelong_co.experiments.sheet import Sheet, words

EVIL = '<script src="http://example.org/x.js">&"'


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Make a report of two methods on two problems, and of a benchmark of both."""
    root = tmp_path_factory.mktemp("report")
    for problem in ("cvrp", "tsp"):
        for method in ("llr-bc", "fine-tuning"):
            of = synthetic_runs.config(method, problem=problem)
            synthetic_runs.write(root / "runs" / f"{problem}-{method}", of)
    solved = [
        Result("X-n101-k25", 100, 27591.0, solver, cost, float(cost), 0.1)
        for solver, cost in (("llr-bc", 28000), ("fine-tuning", 29000))
    ]
    save(root / "cvrplib", {"library": "cvrplib", "paper": False}, solved)
    return make_report(collect([root]), Places(root / "absent"), str)


def test_the_page_is_self_contained(report):
    """No link leaves the page, no script runs, every tag is closed, every anchor is there."""
    text = page(report)
    parsed = pages.parse(text)
    assert not {"script", "link", "iframe", "object"} & set(parsed.tags)
    inner = [link for link in parsed.links if link.startswith("#")]
    data = [link for link in parsed.links if link.startswith("data:image/png;base64,")]
    assert len(inner) + len(data) == len(parsed.links)
    assert {link[1:] for link in inner} <= set(parsed.names)
    assert len(data) == len(report.pictures) == 6  # three for each problem
    assert len(set(parsed.names)) == len(parsed.names)
    bare = re.sub(r"base64,[^\"]*", "", text)
    assert not re.search(r"https?:|//|@import|url\(|<script", bare)
    assert parsed.tags.count("table") == len(report.sheets)


def test_wide_tables_scroll_in_their_own_box_and_pictures_fit(report):
    """A phone's page is as wide as its screen: what is wider has a box."""
    text = page(report)
    assert 'name="viewport" content="width=device-width' in text
    assert text.count("<table") == text.count('<div class="wide"><table')
    assert text.count("<img") == text.count("<figure><img")


def test_names_are_escaped():
    """No title, heading, cell, caption or note brings markup with it."""
    sheet = Sheet(key="x", title=EVIL, header=(EVIL, "b"), blocks=((words(EVIL, EVIL),),),
                  spans=((EVIL, 2),), note=EVIL, common=EVIL)  # fmt: skip
    section = Section(EVIL, EVIL, (sheet,), (Picture("p", EVIL, b"png"),))
    made = Report(EVIL, (Part(EVIL, EVIL, (section, Section(EVIL, missing=EVIL))),), (EVIL,))
    parsed = pages.parse(page(made))
    assert "script" not in parsed.tags


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


def test_the_summary_of_benchmarks_is_the_papers(report):
    """Methods by libraries, in 10^-3 above the best of them."""
    (sheet,) = (sheet for sheet in report.sheets if sheet.key == "benchmarks")
    assert sheet.header == ("method", "CVRPLIB")
    assert [[cell.shown for cell in row] for row in sheet.rows] == [
        ["llr-bc", "0.00"],
        ["fine-tuning", f"{1000 * (29 / 28 - 1):.2f}"],
    ]
    assert sheet.best() == {(0, 1)}


def test_nothing_is_overwritten_unasked(report, tmp_path):
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
