"""``lifelong-co compare``: output, files and errors."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import synthetic_runs
import typer
from lifelong_co_cli.compare import compare
from typer.testing import CliRunner

from lifelong_co.errors import ConfigError

app = typer.Typer()
app.command("compare")(compare)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Write a run of llr-bc and one of fine-tuning."""
    root = tmp_path_factory.mktemp("runs")
    methods = ("llr-bc", "fine-tuning")
    return [str(synthetic_runs.write(root / m, synthetic_runs.config(m))) for m in methods]


def test_compare_prints_text_by_default(runs: list[str]) -> None:
    """The table of metrics comes first, then each cost matrix."""
    result = CliRunner().invoke(app, runs)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "Metrics on cvrp, in 10^-3, lower is better;"
    assert [line.split()[0] for line in lines[6:8]] == ["llr-bc", "fine-tuning"]
    assert "Mean test cost, fine-tuning" in lines


def test_split_adds_the_parts_of_ap(runs: list[str], tmp_path: Path) -> None:
    """Without the option there are none; what is written has what is shown."""
    assert "gained back" not in CliRunner().invoke(app, runs).stdout
    arguments = [*runs, "--split", "--out", str(tmp_path)]
    assert "gained back" in CliRunner().invoke(app, arguments).stdout
    for name in ("table.txt", "table.csv"):
        assert "gained back" in (tmp_path / name).read_text(encoding="utf-8")


def test_csv_and_json_output_can_be_parsed(runs: list[str], tmp_path: Path) -> None:
    """Standard output holds only the data, even while files are written."""
    result = CliRunner().invoke(app, [*runs, "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["method"] for row in rows] == ["llr-bc", "fine-tuning"]
    result = CliRunner().invoke(app, [*runs, "--format", "json", "--out", str(tmp_path / "out")])
    metrics = [group["runs"][0]["metrics"] for group in json.loads(result.stdout)["groups"]]
    assert metrics[0]["AF"] < metrics[1]["AF"]
    assert float(rows[0]["AF_1e-3"]) == pytest.approx(metrics[0]["AF"] * 1e3, rel=1e-4)
    assert f"wrote {tmp_path / 'out' / 'report.html'}" in result.stderr


def test_out_folder_holds_the_whole_report(runs: list[str], tmp_path: Path) -> None:
    """Tables, figures and page are written; a second time only with --overwrite."""
    out = tmp_path / "deep" / "out"
    assert CliRunner().invoke(app, [*runs, "--out", str(out)]).exit_code == 0
    names = ["forgetting.png", "plasticity.png", "report.html", "table.csv", "table.txt"]
    assert sorted(path.name for path in out.iterdir()) == names
    again = CliRunner().invoke(app, [*runs, "--out", str(out)])
    assert isinstance(again.exception, ConfigError)
    assert "pass overwrite" in str(again.exception)
    replaced = CliRunner().invoke(app, [*runs, "--out", str(out), "--overwrite"])
    assert replaced.exit_code == 0


def test_folder_without_run_raises_a_lifelong_error(runs: list[str], tmp_path: Path) -> None:
    """`main` shows this error as one line with status 2; nothing is written."""
    out = tmp_path / "out"
    result = CliRunner().invoke(app, [*runs, str(tmp_path / "absent"), "--out", str(out)])
    assert isinstance(result.exception, ConfigError)
    assert not out.exists()


def test_missing_folder_and_unknown_format_are_usage_errors(runs: list[str]) -> None:
    """The command line refuses both with status 2."""
    assert CliRunner().invoke(app, []).exit_code == 2
    result = CliRunner().invoke(app, [*runs, "--format", "xml"])
    assert result.exit_code == 2
    assert "xml" in result.output


def test_compare_module_imports_nothing_slow() -> None:
    """`lifelong-co --help` must not wait for torch, numpy or matplotlib."""
    code = (
        "import sys, lifelong_co_cli.compare;"
        "print(sorted({'torch', 'numpy', 'matplotlib', 'lifelong_co'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
