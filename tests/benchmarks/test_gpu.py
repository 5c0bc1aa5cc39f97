"""Each piece of the proof for GPUs at tiny size on the CPU, where a graph is a repeated call."""

import json
import os
import subprocess
import sys

import pytest
from paths import ROOT

WAYS = {
    "greedy",
    "sampled",
    "gradient of one pass",
    "gradient step by step",
    "greedy after a step",
    "replay",
}


@pytest.fixture
def module(program):
    """Return a function that imports a module of the benchmark."""
    return lambda name: program(f"gpu_pieces.{name}")


@pytest.mark.parametrize("problem", ["cvrp", "tsp"])
@pytest.mark.parametrize("solver", ["pomo", "omni", "invit"])
def test_each_way_of_a_rollout_equals_the_reference(module, solver, problem):
    """Both precisions, all ways of decoding; with graphs only solvers that have graphs."""
    checks = list(module("correctness").of_solver(solver, problem, "cpu", tiny=True))
    assert [check for check in checks if not check["holds"]] == []
    for precision in ("float64", "float32"):
        done = {check["what"] for check in checks if check["precision"] == precision}
        assert {what.partition(",")[0] for what in done} >= WAYS
        assert any(what.endswith(", graphs") for what in done) == (solver != "invit")
    gradients = [check["gradient"] for check in checks if "gradient of" in check["what"]]
    assert all(0 < gradient < 1e-4 for gradient in gradients)


def test_difference_and_error_break_a_check(module):
    """A difference above the bound, another action, and an exception."""
    rollouts, correctness = module("rollouts"), module("correctness")
    near = rollouts.Difference(actions=1.0, cost=1e-6, likelihood=0.0)
    other = rollouts.Difference(actions=0.9, cost=0.0, likelihood=0.0)
    assert not correctness.checked({}, lambda: near, "float64")["holds"]
    assert correctness.checked({}, lambda: near, "float32")["holds"]
    assert not correctness.checked({}, lambda: other, "float64")["holds"]
    failed = correctness.checked({"what": "greedy"}, lambda: 1 / 0, "float64")
    assert failed == {
        "what": "greedy",
        "holds": False,
        "error": "ZeroDivisionError: division by zero",
    }


def test_resumed_run_equals_a_whole_one(module):
    """To the bit on the CPU."""
    (check,) = module("correctness").resumed("pomo", "cvrp", "cpu", tiny=True)
    assert check["holds"]
    assert check["difference"] == check["twice"] == 0


def test_run_of_the_paper_goes_on_and_has_the_papers_figures(module, tmp_path):
    """Without time it stops after a step; then it ends."""
    paper = module("paper")
    begun = paper.run(tmp_path / "run", "cpu", "float32", tiny=True, seconds=0)
    assert (begun["finished"], begun["epochs"], begun["table"]) == (False, 0, [])
    ended = paper.run(tmp_path / "run", "cpu", "float32", tiny=True, seconds=60)
    assert (ended["finished"], ended["epochs"], ended["of"]) == (True, 6, 6)
    assert {row["metric"]: row["paper"] for row in ended["table"]} == {
        "AP": 8.0,
        "AF": 0.0,
        "AMF": 0.0,
        "APl": 7.0,
        "AG": 27.1,
    }


def test_time_of_the_papers_run_is_estimated(module):
    """From steps of each size."""
    found = module("paper").minutes("cpu", "bfloat16", tiny=True)
    assert found["steps"] == 12
    assert len(found["seconds of a step"]) == 3


def test_point_of_growth_that_would_take_too_long_is_left_out(module):
    """According to the points so far."""
    growing = module("growing")
    point = growing.point("solve-5-1", "cpu", [], 1)
    assert (point["kind"], point["n"], point["batch"]) == ("solve", 5, 1)
    slow = {"kind": "step", "n": 100, "batch": 1, "seconds": 50.0, "gib": 0.1}
    assert growing.point("step-200-1", "cpu", [slow], 1) == {"left out": "expected 1 GiB and 400 s"}


def test_command_notes_failures_and_goes_on(tmp_path):
    """A job without time is done by the next command; a piece that cannot begin does not stop."""

    def command(budget):
        done = subprocess.run(
            [sys.executable, ROOT / "benchmarks/gpu.py", "--pieces", "official", "paper", "--tiny",
             "--device", "cpu", "--threads", "1", "--out", tmp_path, "--budget", str(budget)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LIFELONG_CO_UPSTREAM": str(tmp_path)},
        )  # fmt: skip
        pieces = json.loads((tmp_path / "gpu.json").read_text())["pieces"]
        states = {name: job["state"] for name, job in pieces["paper"]["jobs"].items()}
        assert pieces["official"]["jobs"]["all"]["state"] == "failed"
        assert "official code of LLR-BC" in pieces["official"]["jobs"]["all"]["error"]
        assert done.returncode == 1, done.stderr
        return states, done.stdout

    states, shown = command(0.5)
    assert states["float32"] == "unfinished"
    assert "unfinished: paper float32" in shown
    states, shown = command(600)
    assert states == {"float32": "done", "bfloat16": "done", "run": "done"}
    assert "failed: official all" in shown
    assert "after 3 tasks, AP" in shown
