"""Reports of compared runs: tables, figures and pages, drawn and written."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pages
import pytest
import synthetic_runs

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import figures, panels, publish, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds each of llr-bc and fine-tuning."""
    root = tmp_path_factory.mktemp("runs")
    return [
        synthetic_runs.write(root / f"{method}-{seed}", synthetic_runs.config(method, seed=seed))
        for method in ("llr-bc", "fine-tuning")
        for seed in (0, 1)
    ]


@pytest.fixture(scope="module")
def comparison(folders: list[Path]) -> Comparison:
    """Set the four runs side by side."""
    return compare_folders(folders)


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
    costs = comparison.groups[1].costs
    assert f"{costs[2][0]:.4f}" in text
    assert costs[2][0] == pytest.approx(sum(r.costs[2][0] for r in comparison.runs[2:]) / 2)


def test_csv_and_json_hold_the_same_metrics(comparison: Comparison) -> None:
    """CSV is in thousandths, as its header says; JSON in plain fractions, run by run."""
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(comparison))))
    data = json.loads(json.dumps(tables.as_json(comparison), allow_nan=False))
    for row, group in zip(rows, data["groups"], strict=True):
        mean = sum(run["metrics"]["AP"] for run in group["runs"]) / 2
        assert float(row["AP_1e-3"]) == pytest.approx(mean * 1e3, rel=1e-4)
    assert data["best"] == comparison.best


def test_a_single_task_leaves_undefined_metrics_out(tmp_path: Path) -> None:
    """With one task AF is a dash in the table, empty in CSV and null in JSON."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config(distributions=("E",)))
    found = compare_folders([folder])
    assert tables.metrics_table(found).shown[1][2:] == ["0.0", "-", "-", "0.0", "-"]
    assert next(csv.DictReader(io.StringIO(tables.as_csv(found))))["AF_1e-3"] == ""
    assert tables.as_json(found)["groups"][0]["runs"][0]["metrics"]["AF"] is None
    assert publish.write_run_report(folder).exists()


def test_each_order_has_its_own_row_of_panels(tmp_path: Path) -> None:
    """Runs of two orders are drawn in one figure, taller than that of one order alone."""
    one = synthetic_runs.write(tmp_path / "1", synthetic_runs.config())
    other = synthetic_runs.config(distributions=("U", "C", "E"), order="2")
    two = synthetic_runs.write(tmp_path / "2", other)
    single, both = (figures.plasticity(compare_folders(runs)) for runs in ([one], [one, two]))
    assert both.startswith(PNG)
    height = slice(20, 24)  # of the PNG header
    assert int.from_bytes(both[height]) > 1.5 * int.from_bytes(single[height])
    assert figures.forgetting(compare_folders([one, two])).startswith(PNG)


@pytest.mark.parametrize(("extreme", "cut"), [(30.0, True), (11.0, False)])
def test_a_few_extreme_tests_do_not_flatten_a_panel(
    comparison: Comparison, extreme: float, cut: bool
) -> None:
    """A single test far above all others leaves the frame, and the panel says so."""
    axes = panels.figure(4, 3, comparison.groups).add_subplot()
    points = [(0.0, extreme), *((float(x), 10 + x % 2) for x in range(1, 30))]
    panels.lines(axes, comparison, comparison.groups[0], [[points]])
    panels.finish(axes, "title", "epoch")
    assert (axes.get_ylim()[1] < extreme) == cut
    assert axes.get_ylim()[1] > 11
    assert bool(axes.get_title("right")) == cut


def test_the_page_is_self_contained(comparison: Comparison) -> None:
    """Nothing is loaded from elsewhere: images are data, there is no script and no style sheet."""
    text = page(make_report(comparison, publish.draw(comparison)))
    parsed = pages.parse(text)
    assert len(parsed.links) == 2
    assert all(link.startswith("data:image/png;base64,") for link in parsed.links)
    assert not {"script", "link", "iframe"} & set(parsed.tags)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert "@import" not in text
    assert parsed.tags.count("details") == 1 + 4  # the terms, and the costs of each run


def test_names_are_escaped_on_the_page(tmp_path: Path) -> None:
    """A task's or folder's name can bring no markup with it, and a dollar sign no mathematics."""
    evil = '<b>&"$\\frac$'
    of = synthetic_runs.config(task={"name": evil})
    folder = synthetic_runs.write(tmp_path / "<i>run", of)
    text = publish.write_run_report(folder).read_text(encoding="utf-8")
    assert not {"b", "i"} & set(pages.parse(text).tags)
    assert "&lt;b&gt;&amp;&quot;$\\frac$" in text


def test_without_matplotlib_tables_and_page_still_come(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page then says how to get the figures."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    *_, report = publish.write_report(compare_folders(folders), tmp_path / "out")
    assert sorted(path.name for path in report.parent.iterdir()) == [
        "report.html",
        "table.csv",
        "table.txt",
    ]
    assert "pip install &#x27;lifelong-co[plot]&#x27;" in report.read_text(encoding="utf-8")


def test_a_run_report_can_be_made_again(tmp_path: Path) -> None:
    """The report of a run lies in its folder and is replaced, not refused, when made anew."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    before = {path.name for path in folder.iterdir()}
    assert publish.write_run_report(folder) == folder / "report.html"
    first = (folder / "report.html").read_bytes()
    publish.write_run_report(folder)
    assert (folder / "report.html").read_bytes() == first
    assert {path.name for path in folder.iterdir()} == before | {"figures", "report.html"}
    assert sorted(path.name for path in (folder / "figures").iterdir()) == [
        "forgetting.png",
        "plasticity.png",
    ]


def test_existing_reports_are_not_overwritten_by_default(
    folders: list[Path], tmp_path: Path
) -> None:
    """One file of an earlier report is enough to refuse, and then nothing is written at all."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "table.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"holds table.txt already.*--overwrite"):
        publish.write_report(compare_folders(folders), out)
    assert [path.name for path in out.iterdir()] == ["table.txt"]
    assert (out / "table.txt").read_text() == "mine"
    publish.write_report(compare_folders(folders[:1]), out, overwrite=True)
    assert sorted(path.name for path in out.iterdir()) == sorted(publish.FILES)
    with pytest.raises(ConfigError, match="expected a folder for the report, found a file"):
        publish.write_report(compare_folders(folders), out / "table.txt")
