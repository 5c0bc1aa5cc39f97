"""The comparison of our ranking with that of the printed table."""

import runpy

import pytest
import synthetic_runs
from paths import ROOT

from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import load_run


def test_ranks_use_the_published_definitions(tmp_path, capsys, monkeypatch):
    """AF without the last task, d* over every test; a pair is counted by the printed table."""
    runs = [
        load_run(synthetic_runs.write(tmp_path / name, synthetic_runs.config(name)))
        for name in ("fine-tuning", "ewc")
    ]
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = runpy.run_path(str(ROOT / "benchmarks" / "ranking.py"))
    (chapter,) = script["chapters"](runs, "published")
    found = script["ours"](chapter.of("pomo")["cvrp"], "1")
    best = [min(run.least[name] for run in runs) for name in runs[0].names]
    tuned = metrics.summarize(runs[0].costs, best, definition="published")
    assert found["fine-tuning"]["AF"] == pytest.approx(1e3 * tuned.AF)
    script["compare"]("cvrp", found)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cvrp: fine-tuning, ewc"
    counts = {line.split()[0]: line.split()[1:] for line in lines if " of " in line}
    assert list(counts) == list(metrics.NAMES)
    # The printed means differ by more than their deviations in APl alone.
    plasticity = [found[name]["APl"] for name in ("fine-tuning", "ewc")]
    assert counts["APl"] == [str(int(plasticity[0] < plasticity[1])), "of", "1"]
    assert counts["AF"] == ["0", "of", "0"]
