"""Stored runs are repeated up to the second task, and compared to the bit."""

import pytest

from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare

TASKS = """
batches = 1
batch_size = 4
distribution = "U"
[[tasks]]
size = 5
epochs = 1
[[tasks]]
size = 6
epochs = 2
[[tasks]]
size = 7
epochs = 1
"""
FILE = """
preset = "demo"
problems = ["tsp"]
device = "cpu"
tests = 4
tasks = ["tasks.toml"]
seeds = "1-2"
methods = ["fine-tuning", "llr-bc"]
"""


@pytest.fixture
def study(program, tmp_path):
    """Return a study with all its runs."""
    (tmp_path / "tasks.toml").write_text(TASKS)
    (tmp_path / "tiny.toml").write_text(FILE)
    found = program("study").Study(tmp_path / "tiny.toml", tmp_path / "tiny.csv", tmp_path / "runs")
    for job in found.plan.jobs.values():
        learn(prepare(job.config, job.folder))
    found.store(job.folder for job in found.plan.jobs.values())
    return found


def test_run_of_the_same_code_has_equal_costs(program, study):
    """Three tests are after the first task, and two after an epoch of the second."""
    repeat = program("repeat")
    names = [*repeat.chosen(study)]
    assert names == [f"tsp-pomo-{method}-demo-tasks-seed1" for method in ("fine-tuning", "llr-bc")]
    for name in names:
        row = repeat.compared(study, name)
        assert (row["tests"], row["equal"], row["largest"]) == (5, 5, 0.0)
    text = study.stored.read_text()
    stored = study.lines()[names[1]][0]["cost"]
    study.stored.write_text(text.replace(stored, repr(float(stored) * 1.25)))
    row = repeat.compared(study, names[1])
    assert row["equal"] < row["tests"] == 5
    assert row["largest"] == pytest.approx(0.2)


def test_whole_runs_of_another_commit_are_compared(program, study, tmp_path):
    """All tests count. A run is not compared with itself, nor one that is not finished."""
    repeat, names = program("repeat"), [*study.lines()]
    for name in names[1:]:
        (study.plan.jobs[name].folder / "report.html").touch()
    assert [*repeat.whole(study, tmp_path / "runs")] == []
    text, commit = study.stored.read_text(), study.lines()[names[0]][0]["commit"]
    study.stored.write_text(text.replace(commit, "0" * 12))
    rows = [*repeat.whole(study, tmp_path / "runs")]
    assert [row["run"] for row in rows] == names[1:]
    assert {(row["tests"], row["equal"], row["largest"]) for row in rows} == {(11, 11, 0.0)}
    assert {row["commit"] for row in rows} == {"0" * 12}


def test_table_counts_the_runs_of_each_study(program, tmp_path, monkeypatch):
    """Runs with other costs are counted by method."""
    repeat = program("repeat")
    monkeypatch.setattr(repeat, "STORED", tmp_path / "repeat.csv")
    monkeypatch.setattr(repeat, "chosen", lambda _: "abc")
    whole = {"a": [{}] * 9, "b": [{}] * 57}
    monkeypatch.setattr(program("study").Study, "lines", lambda _: whole)
    lines = (
        "comparison,a,1111111aaaaa,cvrp,pomo,feng,preference,9999999bbbbb,9,9,0.0",
        "comparison,b,2222222aaaaa,tsp,pomo,rehearsal,preference,9999999bbbbb,9,3,0.01",
    )
    repeat.STORED.write_text("\n".join((",".join(repeat.COLUMNS), *lines)) + "\n")
    sheet = program("other_tables").repeated()
    ((row,),) = sheet.blocks
    shown = ["`comparison.toml`", "2", "2 of 3", "1", "1", "1 of `rehearsal`"]
    assert [cell.shown for cell in row] == shown
    assert sheet.note == (
        "1 of these 2 runs have the same bits. Repeated with later code. Commit 9999999."
    )
