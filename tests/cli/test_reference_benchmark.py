"""`lifelong-co reference` and `lifelong-co benchmark`: output, files and errors."""

import json
import re
import shutil

import pytest
from command_line import call
from paths import FIXTURES

from lifelong_co.storage import checkpoint
from lifelong_co.storage.lock import locked


def test_references_are_found_once_and_give_gaps(tmp_path, finished):
    """A second start solves nothing; `--check`, `evaluate` and `compare` use the references."""
    pytest.importorskip("pyvrp")
    cache = tmp_path / "references"
    folder = finished().folder
    options = ("reference", "--run", folder, "--references", cache, "--jobs=1")
    options += ("--iterations=5", "--restarts=1")
    first = call(*options)
    assert first.status == 0, first.err
    assert ": 16 of 16 instances, mean cost " in first.out  # the third task is the first again
    assert "(pyvrp)" in first.err
    again = call(*options)
    assert "; 0 solved now" in again.out
    assert again.err == ""
    checked = call(*options, "--check")
    assert checked.status == 0
    assert checked.out.rstrip().endswith(", 0 faulty")
    shown = call("evaluate", folder, "--references", cache, "--device", "cpu")
    assert all(" gap " in line and "instances" not in line for line in shown.out.splitlines())
    compared = call("compare", folder, "--references", cache).out
    assert f"gap to the references in {cache}" in compared
    assert call("compare", folder, "--references", tmp_path).out.endswith(
        f"no gaps: {tmp_path} has no task whose test instances all have a reference\n"
    )


def test_an_instance_without_reference_gives_status_1(tmp_path, monkeypatch):
    """It is named at the end, and the references of the others are stored."""
    pytest.importorskip("pyvrp")
    results = iter([None, [[1, 2], [3, 4]]])
    monkeypatch.setattr(
        "lifelong_co.problems.reference_models.search", lambda *_, **__: next(results)
    )
    drawn = ("--distribution=U", "--size=4", "--count=2", "--references", tmp_path, "--jobs=1")
    done = call("reference", *drawn)
    assert done.status == 1
    assert "U4: 1 of 2 instances, mean cost " in done.out
    assert "no feasible solution found: U4 #0" in done.err


def test_reference_needs_exactly_one_source(tmp_path):
    """No source, or two, is an error of one line."""
    for options in ((), ("--testset", "U", "--distribution", "G")):
        refused = call("reference", *options, "--references", tmp_path)
        assert refused.status == 2
        assert "expected one of FILE, --distribution, --testset and --run" in refused.err


def test_check_reports_a_faulty_reference(tmp_path):
    """--check ends with status 1 and names the instance."""
    pytest.importorskip("pyvrp")
    options = ("reference", FIXTURES / "four.vrp", "--references", tmp_path, "--jobs=1")
    options += ("--iterations=5", "--restarts=1")
    assert call(*options).status == 0
    (file,) = tmp_path.rglob("*.json")
    content = json.loads(file.read_text())
    assert content["cost"] == 43
    file.write_text(json.dumps({**content, "actions": [0, 1, 2, 3, 4, 0]}))
    checked = call(*options, "--check")
    assert checked.status == 1
    assert "  four: infeasible: four: expected at most the capacity 10" in checked.out


def without_seconds(text):
    """Return a table with a mark for each number of seconds, e.g. 0.1."""
    return re.sub(r"\b\d+\.\d(?![\d%])", "S", text)


def test_benchmark_writes_tables_and_continues(tmp_path, finished):
    """Two checkpoints solve two instances; a second start solves nothing."""
    place, out = tmp_path / "files", tmp_path / "out"
    place.mkdir()
    shutil.copy(FIXTURES / "four.vrp", place)
    shutil.copy(FIXTURES / "four.vrp", place / "again.vrp")
    (place / "bad.vrp").write_text("NAME: bad\n")
    runs = [finished("llr-bc").folder, finished("fine-tuning").folder]
    options = ("benchmark", "cvrplib", place, "--device", "cpu", "--out", out)
    options += tuple(f"--checkpoint={run}" for run in runs)
    solved = call(*options)
    assert solved.status == 0, solved.err
    assert "left out: " in solved.err
    assert "bad.vrp" in solved.err
    assert solved.out.startswith("Cost in the distances of the files")
    rows = [line.split() for line in solved.out.splitlines()]
    assert ["four", "4", "43"] in [row[:3] for row in rows]
    # In both tables, of which the first is printed in two parts.
    assert [row[0] for row in rows if row].count("again") == 3
    assert (out / "table.txt").read_text() == solved.out
    again = call(*options, "--format", "csv")
    assert "cost" not in again.err
    assert again.out == (out / "table.csv").read_text()
    assert len(again.out.splitlines()) == 5
    assert call(*options, "--augment").err.count("was made with augment=False") == 1
    together = call(*options[:-3], out / "batch", *options[-2:], "--batch", "2")
    assert "s each, 2 together)" in together.err
    assert without_seconds(together.out) == without_seconds(solved.out)


def test_second_benchmark_in_a_folder_is_refused(tmp_path, finished):
    """It would replace the results of the first; afterwards the folder has no lock."""
    out = tmp_path / "out"
    options = ("benchmark", "tsplib", FIXTURES, "--checkpoint", finished(problem="tsp").folder)
    with locked(out, ""):
        refused = call(*options, "--device", "cpu", "--out", out)
    assert refused.status == 2
    assert f"{out}: another process writes a benchmark here" in refused.err
    assert [path.name for path in out.iterdir()] == ["lock"]


def test_benchmark_notes_new_parameters_and_new_best_costs(tmp_path, finished):
    """New parameters solve again; the best-known cost is read at each start."""
    place, run, out = tmp_path / "files", tmp_path / "run", tmp_path / "out"
    place.mkdir()
    text = (FIXTURES / "four.vrp").read_text()
    (place / "four.vrp").write_text(re.sub("COMMENT.*\n", "", text))
    shutil.copytree(finished("fine-tuning").folder, run)
    options = ("benchmark", "cvrplib", place, "--checkpoint", run, "--device", "cpu", "--out", out)
    first = call(*options)
    assert first.status == 0, first.err
    assert ["four", "4", "-"] in [line.split()[:3] for line in first.out.splitlines()]
    (place / "four.sol").write_text("Route #1: 1 2\nRoute #2: 3 4\nCost 43\n")
    second = call(*options)
    assert "cost" not in second.err
    assert ["four", "4", "43"] in [line.split()[:3] for line in second.out.splitlines()]
    path, tree = checkpoint.latest(run / "checkpoints")
    tree["parameters"] = {name: -tensor for name, tensor in tree["parameters"].items()}
    checkpoint.save(path.parent, checkpoint.step_of(path) + 1, tree)
    third = call(*options)
    assert "fine-tuning: the weights have changed; 1 result dropped" in third.err
    assert "four: fine-tuning: cost" in third.err
    stored = json.loads((out / "results.json").read_text())
    assert len(stored["results"]) == 1


def test_benchmark_refuses_a_solver_of_another_problem(finished):
    """The error is one line with the run."""
    folder = finished().folder
    refused = call("benchmark", "tsplib", FIXTURES, "--checkpoint", folder, "--device", "cpu")
    assert refused.status == 2
    assert "expected a solver of tsp, got one of cvrp" in refused.err
