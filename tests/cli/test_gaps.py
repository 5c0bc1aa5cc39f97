"""Commands find references and show gaps without an option."""

import json
import shutil

import pytest
import synthetic_runs
from command_line import call, spawn, wait
from lifelong_co_adapters.official import locate
from synthetic_references import lay

from lifelong_co.experiments.comparison.tables import GAPS
from lifelong_co.experiments.sweep.grid import Grid
from lifelong_co.experiments.sweep.plan import make_plan
from lifelong_co.runs.folder import RunFolder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty folder, without the files beside this checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locate, "checkout", lambda: None)
    monkeypatch.delenv(locate.VARIABLE, raising=False)


@pytest.fixture
def official(tmp_path, monkeypatch):
    """Lay the costs of TSP U as LLR-BC publishes them, 3.8 each, where the variable points."""
    folder = tmp_path / "upstream" / "LLR-BC"
    below = folder / "TSP" / "generated_test_instances"
    below.mkdir(parents=True)
    lines = ["0,1,2 3.8 0.1"] * 1000 + ["0,1 cut"]
    (below / "TSPinstances_U_20_1000_seed0_Gurobi_solution").write_text("\n".join(lines))
    monkeypatch.setenv(locate.VARIABLE, str(tmp_path / "upstream"))
    return folder


def test_run_ends_with_gaps(tmp_path, finished):
    """Gaps are on standard output and in the report, from `./references`."""
    folder = tmp_path / "run"
    shutil.copytree(finished().folder, folder)
    before = call("run", "--resume", folder)
    assert "references" not in before.out
    task = RunFolder(folder).config().tasks[1]
    lay(tmp_path / "references", task, 8, 2.5)
    after = call("run", "--resume", folder)
    assert after.status == 0, after.err
    assert f"{GAPS} in references\n" in after.out
    assert f"{GAPS} in references." in (folder / "report.html").read_text(encoding="utf-8")
    assert GAPS in call("compare", folder).out


def test_run_on_official_test_sets_shows_gaps_to_their_costs(tmp_path, official):
    """`compare` names the source of the costs; `report` has the gaps in its tables."""
    of = synthetic_runs.config(
        distributions=("U", "E"), problem="tsp", tests=1000, task={"size": 20}
    )
    folder = synthetic_runs.write(tmp_path / "run", of)
    shown = call("compare", folder)
    assert f"{GAPS} in {official} (published)\n" in shown.out
    data = call("compare", folder, "--format", "json")
    assert f"references: in {official} (published)" in data.err
    (group,) = json.loads(data.out)["groups"]
    cost = group["runs"][0]["costs"][-1][0]
    assert group["gaps"] == {"U20": pytest.approx(cost / 3.8 - 1)}
    printed = call("report", folder, "--out", tmp_path / "out").out
    said = f"the gap to the mean reference in {official} (published)."
    assert said in " ".join(printed.split())  # lines are wrapped
    # Other tests have no such costs.
    other = synthetic_runs.write(tmp_path / "other", synthetic_runs.config(problem="tsp"))
    assert "gap to the" not in call("compare", other).out


def test_evaluate_names_the_source_of_references(finished, official):
    """Gaps need the test instances as published, not fewer."""
    options = ("evaluate", finished(problem="tsp").folder, "--task", "U:20", "--device", "cpu")
    found = call(*options, "--tests", "1000")
    assert found.out.rstrip().endswith(f"% to {official} (published)")
    assert " gap " not in call(*options, "--tests", "10").out
    (file,) = official.rglob("*_solution")
    file.write_text("torn\n")
    torn = call(*options, "--tests", "1000")
    assert torn.status == 0
    assert torn.out.rstrip() == found.out.partition("  gap")[0]
    assert f"no gap on U20: {file}, line 1: expected" in torn.err


def test_evaluate_says_that_a_given_folder_has_no_references(tmp_path, finished):
    """Without the option nobody expects a gap."""
    folder = tmp_path / "mine"
    folder.mkdir()
    options = ("evaluate", finished().folder, "--task", "U:20", "--tests", "3", "--device", "cpu")
    given, plain = call(*options, "--references", folder), call(*options)
    assert given.out == plain.out
    assert f"no gap on U20: {folder} has no references of its 3 test instances\n" in given.err
    assert "no gap" not in plain.err


def test_published_file_of_r_has_no_gap(finished, official):
    """The published costs belong to the demands of the generator."""
    below = official / "CVRP" / "generated_test_instances"
    below.mkdir(parents=True)
    lines = ["0,1,2 5.0 0.1"] * 1000
    (below / "CVRPinstances_Ring_20_1000_seed0_HGS_solution").write_text("\n".join(lines))
    options = ("evaluate", finished().folder, "--task", "R:20", "--tests", "1000")
    plain, stored = (call(*options, *of) for of in ((), ("--tests-of", "published")))
    assert plain.out.rstrip().endswith(f"% to {official} (published)")
    assert " gap " not in stored.out
    assert stored.out.split()[:2] != plain.out.split()[:2]
    refused = call(*options[:-1], "10", "--tests-of", "published")
    assert refused.status == 2
    assert "tests_of 'published': expected a task of the paper with 1000 test" in refused.err


def test_check_covers_published_solutions(official):
    """Option --stored is not needed."""
    checked = call("reference", "--check", "--testset", "U", "--problem", "tsp")
    assert checked.status == 1
    assert f"U: 1000 solutions in {official}" in checked.out
    assert "U #0: " in checked.out


def test_sweep_tables_have_gaps(tmp_path):
    """All three files have gaps, from `./references`."""
    options = ("--methods", "fine-tuning", "--preset", "demo", "--device", "cpu", "--out", "sweep")
    grid = Grid(methods=("fine-tuning",), preset="demo", device="cpu")
    for job in make_plan([grid], tmp_path / "sweep").jobs.values():
        job.prepare()
        synthetic_runs.finish(job.folder)
        first = job.config.tasks[0]
        lay(tmp_path / "references", first, job.config.tests, 5.0)
    done = call("sweep", *options)
    assert done.status == 0, done.err
    assert "References in references" in done.out
    for name in ("table.txt", "table.md"):
        text = (tmp_path / "sweep" / name).read_text(encoding="utf-8")
        assert f"method mean gap {first.label}" in " ".join(text.replace("|", " ").split())
    header, line = (tmp_path / "sweep" / "table.csv").read_text(encoding="utf-8").splitlines()
    assert header.endswith("gap_tasks,gap_references")
    assert line.endswith(f"{first.label},in references")


def test_published_gaps_come_from_the_instances(tmp_path, finished):
    """`compare` and `report` solve the tests again; --format csv and json show the same gap."""
    folder = finished("fine-tuning").folder
    task = RunFolder(folder).config().tasks[1]
    costs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    lay(tmp_path / "references", task, 8, costs)
    done = wait(spawn("compare", folder, "--published", "--format", "json"))
    assert done.status == 0, done.err
    assert f"{folder}: solves the test instances again" in done.err
    data = json.loads(done.out)
    assert data["definition"] == "published"
    (group,) = data["groups"]
    text = json.loads(call("compare", folder, "--format", "json").out)
    (other,) = text["groups"]
    assert group["gaps"][task.label] > 1.5 * other["gaps"][task.label]
    shown = call("compare", folder, "--published").out
    assert "AF and AMF as published" in shown
    assert f"({group['gaps'][task.label]:.2%})" in shown
    assert "as published" not in call("compare", folder).out
    made = call("report", folder, "--published", "--out", tmp_path / "out", "--format", "csv")
    assert made.status == 0, made.err
    assert "# Metrics over the task orders (pomo), as published" in made.out
    assert f"{group['gaps'][task.label]:.6f}" in made.out
