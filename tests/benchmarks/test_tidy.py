"""The tidy table of a study has every test of its runs."""

import csv
import io
import json
import runpy

from paths import ROOT
from tiny_runs import tiny_config, tiny_learn

from lifelong_co import registry


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


def test_stored_options_do_not_follow_a_new_default(tmp_path, monkeypatch):
    """A run keeps what it says; an option that came later is named."""
    tidy = runpy.run_path(str(ROOT / "benchmarks" / "tidy.py"))
    config = tiny_config("feng")
    options = registry.all_options("method", "feng", config.method_options)
    usual = tmp_path / "defaults.json"
    monkeypatch.setitem(tidy["said"].__globals__, "USUAL", usual)
    for known, named in ((options, {}), ({**options, "alpha": 7.0}, {"alpha": options["alpha"]})):
        usual.write_text(json.dumps({"feng": known}))
        assert json.loads(tidy["said"](config)["options"]) == named
    usual.write_text("{}")
    assert json.loads(tidy["said"](config)["options"]) == options
