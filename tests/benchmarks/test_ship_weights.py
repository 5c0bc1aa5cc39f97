"""The weights that ship: from a run to a folder that `solve` reads."""

import json
import runpy

import pytest
from lifelong_co_adapters import shipped
from paths import ROOT
from tiny_runs import tiny_config, tiny_learn

from lifelong_co.errors import ConfigError
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.trained_solver import load_solver


def test_run_becomes_shipped_weights(tmp_path, capsys, monkeypatch):
    """The card has seed, tasks, costs, the hash, and the comparison with nearest neighbor."""
    config = tiny_config(problem="cvrp")
    tiny_learn(config, tmp_path)
    script = runpy.run_path(str(ROOT / "benchmarks" / "ship_weights.py"))
    arguments = ["ship_weights.py", str(tmp_path / "run"), f"--folder={tmp_path / 'weights'}"]
    monkeypatch.setattr("sys.argv", arguments)
    script["main"]()
    found = shipped.load("cvrp", folder=tmp_path / "weights")
    expected = load_solver(tmp_path / "run").module.state_dict()
    for name, value in found.solver.module.state_dict().items():
        assert (value == expected[name]).all()
    assert found.card["seed"] == config.seed
    assert [task["name"] for task in found.card["tasks"]] == [task.label for task in config.tasks]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert found.card["costs"] == metrics["costs"]
    last = [row["cost"] for row in found.card["tested"]]
    assert last == pytest.approx(metrics["costs"][-1], rel=1e-6)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == len(config.tasks) + 1
    verdicts = ["better" if row["better"] else "NOT better" for row in found.card["tested"]]
    assert [line.split(": ")[-1] for line in out[:-1]] == verdicts


def test_unfinished_run_is_refused(tmp_path):
    """Weights must have learned all tasks of their card."""
    RunFolder(tmp_path / "run").create(tiny_config())
    script = runpy.run_path(str(ROOT / "benchmarks" / "ship_weights.py"))
    with pytest.raises(ConfigError, match="expected a finished run, got 0 tasks learned"):
        script["card"](tmp_path / "run", None)
