"""Files solved by the shipped solver, by PyVRP from there, and by PyVRP alone."""

import csv
import runpy

import pytest
from paths import ROOT


def test_costs_are_stored(tmp_path, monkeypatch, capsys):
    """A line has the costs that are printed; going on is never worse than the solver."""
    pytest.importorskip("pyvrp")
    nodes = "".join(f"{i + 1} {17 * i % 29} {13 * i % 31}\n" for i in range(12))
    file = tmp_path / "small.tsp"
    file.write_text(
        "NAME : small\nTYPE : TSP\nDIMENSION : 12\nEDGE_WEIGHT_TYPE : EUC_2D\n"
        f"NODE_COORD_SECTION\n{nodes}EOF\n"
    )
    script = runpy.run_path(str(ROOT / "benchmarks" / "improve.py"))
    script["main"].__globals__["STORED"] = tmp_path / "improve.csv"
    monkeypatch.setattr("sys.argv", ["improve.py", str(file), "--seconds=0.2"])
    script["main"]()
    with (tmp_path / "improve.csv").open(newline="") as stored:
        (line,) = csv.DictReader(stored)
    assert (line["instance"], line["nodes"], line["best_known"]) == ("small", "12", "")
    shown = capsys.readouterr().out
    for name in ("solver", "nearest_neighbor", "from_solver", "alone"):
        assert f"cost {float(line[name]):.10g}" in shown
    assert float(line["from_solver"]) <= float(line["solver"])
