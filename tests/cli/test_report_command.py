"""``lifelong-co report``: output, files and errors."""

import csv
import io

import imported_starts
import pages
import pytest
from command_line import call


@pytest.fixture(scope="module")
def made(tmp_path_factory, finished):
    """Report two real runs; return what was printed and the folder."""
    out = tmp_path_factory.mktemp("report") / "out"
    runs = [finished("llr-bc").folder, finished("fine-tuning").folder]
    outcome = call("report", *runs, "--out", out)
    assert outcome.status == 0, outcome.err
    return outcome, out


def test_report_of_two_runs_has_tables_figures_and_page(made):
    """Metrics, costs and the buffer are printed; missing parts are named."""
    outcome, out = made
    for title in ("Metrics over the task orders", "Mean cost on CVRP", "Buffered units"):
        assert title in outcome.out
    assert "not in this report: Hyperparameters and ablations: needs runs" in outcome.err
    assert "not in this report: Benchmark instances: needs" in outcome.err
    assert f"wrote {out / 'report.html'}" in outcome.err
    names = {path.name for path in (out / "figures").iterdir()}
    assert {"buffer-cvrp-pomo.png", "confidence-cvrp-pomo.png"} < names
    assert "forgetting-cvrp-pomo-tasks.png" in names
    assert "http" not in "".join(pages.parse((out / "report.html").read_text("utf-8")).links)


def test_report_prints_the_format_of_the_option(finished, tmp_path):
    """CSV can be read, LaTeX has tables; standard output holds nothing else."""
    run = finished("fine-tuning").folder
    outputs = {}
    for form in ("latex", "csv"):
        outcome = call("report", run, "--out", tmp_path / form, "--format", form)
        assert outcome.status == 0, outcome.err
        outputs[form] = outcome.out
    assert outputs["latex"].count(r"\begin{table}") == outputs["latex"].count(r"\end{table}") > 2
    title, header, row, *_ = csv.reader(io.StringIO(outputs["csv"]))
    assert title == ["# Metrics over the task orders (pomo)"]
    assert (header[0], row[0], len(row)) == ("method", "fine-tuning", len(header))


def test_earlier_report_is_kept_without_overwrite(made, finished):
    """The command refuses before it does any work."""
    _, out = made
    run = finished("fine-tuning").folder
    refused = call("report", run, "--out", out)
    assert refused.status == 2
    assert "pass overwrite" in refused.err
    again = call("report", run, "--out", out, "--overwrite")
    assert again.status == 0, again.err
    assert f"left from an earlier report: {out / 'figures'}" in again.err


def test_folder_without_finished_runs_is_refused(tmp_path):
    """Status is 2, the error names the folder, nothing is written."""
    (tmp_path / "empty").mkdir()
    refused = call("report", tmp_path / "empty", "--out", tmp_path / "out")
    assert refused.status == 2
    assert len(refused.err.splitlines()) == 1
    assert "empty: expected finished runs in it, found none" in refused.err
    assert not (tmp_path / "out").exists()


def test_start_is_a_row_of_the_costs(finished, tmp_path):
    """An imported checkpoint is tested without learning, next to the methods."""
    run = finished("fine-tuning").folder
    imported_starts.write(tmp_path / "start", "cvrp")
    outcome = call("report", run, tmp_path / "start", "--out", tmp_path / "out")
    assert outcome.status == 0, outcome.err
    assert f"{tmp_path / 'start'}: solves the test instances of" in outcome.err
    costs = outcome.out.partition("Mean cost on CVRP (pomo)")[2]
    assert [line.split("  ")[0] for line in costs.splitlines() if "pomo zero-shot" in line]
