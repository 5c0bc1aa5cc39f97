"""The tidy table of a study has every test of its runs."""

import csv
import io
import runpy

from paths import ROOT
from tiny_runs import tiny_config, tiny_learn


def test_table_has_every_cost_after_a_task(tmp_path, capsys, monkeypatch):
    """To the bit, with the configuration's hash."""
    run = tiny_learn(tiny_config("feng"), tmp_path)
    tidy = runpy.run_path(str(ROOT / "benchmarks" / "tidy.py"))
    monkeypatch.setattr("sys.argv", ["tidy.py", str(tmp_path / "run")])
    tidy["main"]()
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["cost"]) for row in table] == [cost.cost for cost in run.costs]
    assert {row["method"] for row in table} == {"feng"}
    assert len({row["configuration"] for row in table}) == 1
    assert (table[1]["learning"], table[1]["tested"]) == ("U5", "U6")
