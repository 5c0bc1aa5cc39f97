"""The comparison of our ranking with that of the printed table."""

import runpy

import pytest
import synthetic_runs
from paths import ROOT

from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import load_run


def test_ranks_use_the_published_definitions(tmp_path, monkeypatch):
    """AF without the last task, d* over every test; a pair is counted by the printed table."""
    runs = [
        load_run(synthetic_runs.write(tmp_path / name, synthetic_runs.config(name)))
        for name in ("fine-tuning", "ewc")
    ]
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = runpy.run_path(str(ROOT / "benchmarks" / "ranking.py"))
    (chapter,) = script["chapters"](runs, "published")
    named = {run.config.method: {run.config.method: run} for run in runs}
    found = script["ours"](chapter.of("pomo")["cvrp"], named, "cvrp", "1")
    best = [min(run.least[name] for run in runs) for name in runs[0].names]
    tuned = metrics.summarize(runs[0].costs, best, definition="published")
    assert found["fine-tuning"]["AF"] == pytest.approx(1e3 * tuned.AF)
    pairs = script["compare"]("cvrp", found)
    assert list(pairs) == list(metrics.NAMES)
    # The printed means differ by more than their deviations in APl alone.
    plasticity = [found[name]["APl"] for name in ("fine-tuning", "ewc")]
    asked, broken = pairs["APl"]
    assert (asked, len(broken)) == (1, int(plasticity[0] >= plasticity[1]))
    assert pairs["AF"] == (0, [])


def test_the_runs_are_those_of_the_rows_with_the_names_of_methods(program):
    """Not those with the weights that a preset has today, nor those by REINFORCE."""
    found = program("ranking").named(program("study").Study.named("methods").results())
    assert {"fine-tuning", "llr-bc", "feng", "li-inter"} <= set(found)
    for method, runs in found.items():
        assert {run.config.method for run in runs.values()} == {method}
        assert {run.config.objective for run in runs.values()} == {"preference"}
        assert len({str(run.config.method_options) for run in runs.values()}) == 1
    assert {run.config.method_options["alpha"] for run in found["feng"].values()} == {0.5}
