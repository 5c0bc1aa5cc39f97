"""A study keeps its runs in one file, and asks again for those that its plan has no longer."""

import re
import runpy
import sys

import pytest
from paths import ROOT
from synthetic_runs import finish
from synthetic_sweeps import FILE

from lifelong_co.experiments.comparison.labels import identity
from lifelong_co.experiments.sweep.plan import tasks_tested
from lifelong_co.experiments.sweep.table import gather


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Return a study of some runs, two of which are finished and stored."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "tidy", raising=False)
    (tmp_path / "file.toml").write_text(FILE)
    script = runpy.run_path(str(ROOT / "benchmarks" / "study.py"))
    found = script["Study"](tmp_path / "file.toml", tmp_path / "runs.csv", tmp_path / "runs")
    jobs = list(found.plan.jobs.values())[:2]
    for job in jobs:
        job.prepare()
        finish(job.folder)
    found.store(job.folder for job in jobs)
    return found


def test_stored_runs_have_the_metrics_of_their_folders(study):
    """To the bit; the others are missing."""
    stored, read = study.results(), gather(study.plan)
    assert list(stored.runs) == list(read.runs)
    for name, run in stored.runs.items():
        assert (run.tests, run.seconds) == (read.runs[name].tests, read.runs[name].seconds)
        assert identity(run.config) == identity(read.runs[name].config)
    assert set(study.missing().jobs) == set(study.plan.jobs) - set(stored.runs)


def test_missing_runs_are_done_on_another_device(study):
    """The file names one; a run is the same one elsewhere."""
    names = study.missing().jobs.keys()
    study.file.write_text(FILE.replace('device = "cpu"', 'device = "cuda"'))
    of = type(study)(study.file, study.stored, study.runs, "cpu")
    assert of.missing().jobs.keys() == names
    assert {job.config.device for job in of.missing().jobs.values()} == {"cpu"}


def test_the_list_of_studies_says_which_runs_are_missing(program):
    """A study without such a remark is complete."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (`.*?\.toml`) \|(.*)$", text, re.MULTILINE)
    for files, rest in listed:
        said = re.findall(r"(\d+) of (\d+) runs are done", rest)
        for name in re.findall(r"(\w+)\.toml", files):
            of = program("study").Study.named(name)
            done, planned = len(of.lines()), len(of.plan.jobs)
            assert said == ([] if done == planned else [(str(done), str(planned))]), name
    assert len(listed) > 10


def test_an_official_class_has_the_best_cost_of_ours(program):
    """The lowest of both classes: with two of these the rows could not be compared."""
    found = program("study").Study.named("official_solvers").results()
    assert len(found.comparisons) == 8
    for (solver, tested), comparison in found.comparisons.items():
        other = found.comparisons[f"official-{solver.removeprefix('official-')}", tested]
        of_both = [
            run.final
            for run in found.runs.values()
            if run.config.solver.endswith(solver.removeprefix("official-"))
            and tasks_tested(run.config) == tested
        ]
        assert comparison.best == other.best
        for name, best in comparison.best.items():
            assert best <= min(final[name] for final in of_both)


def test_a_run_with_another_option_is_missing(study, tmp_path):
    """Its costs are never shown under the new option."""
    names = list(study.results().runs)
    (tmp_path / "file.toml").write_text(FILE.replace('"small"', '"demo"'))
    again = type(study)(study.file, study.stored, study.runs)
    assert names
    assert not again.results().runs
    again.store([])
    assert study.stored.read_text().count("\n") == 1


def test_a_run_with_other_epochs_is_missing(study):
    """A task file that has changed asks for its runs again."""
    text = study.stored.read_text()
    names = list(study.results().runs)
    lines = text.splitlines(keepends=True)
    last = max(int(line.split(",")[-3]) for line in lines[1:])
    study.stored.write_text("".join(line for line in lines if line.split(",")[-3] != str(last)))
    assert names
    assert not study.lines()


def test_wrong_columns_are_refused(study):
    """By name of the file."""
    study.stored.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match=r"runs\.csv: expected the columns run,commit"):
        study.lines()
