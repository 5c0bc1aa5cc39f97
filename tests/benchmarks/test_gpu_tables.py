"""The tables of what `gpu.py` stored."""

import json

import pytest

MACHINE = {"gpu": "a GPU", "cpu": "a processor", "torch": "2.0"}


def job(result, state="done", commit="0123456"):
    """Return a stored job."""
    return {"state": state, "seconds": 1.0, "commit": commit, **MACHINE, "result": result}


def check(precision, **figures):
    """Return a stored comparison."""
    found = {"precision": precision, "what": "greedy", "holds": True, "actions": 1.0}
    return {**found, "cost": 1e-9, "likelihood": 2e-9, "gradient": None, **figures}


@pytest.fixture
def tables(tmp_path, monkeypatch, program):
    """Return the module with stored pieces of these jobs."""
    found = program("gpu_tables")

    def store(piece, **jobs):
        pieces = {piece: {"jobs": jobs}}
        text = json.dumps({"pieces": pieces})
        (tmp_path / "gpu.json").write_text(text, encoding="utf-8")
        return found

    monkeypatch.setattr(found, "RESULTS", tmp_path)
    return store


def shown(sheet):
    """Return the texts of all rows."""
    return [[cell.shown for cell in row] for row in sheet.rows]


def test_checks_are_the_largest_of_each_precision(tables):
    """A job that is not finished is left out; resumed runs are in the note."""
    checks = [
        check("float64"),
        check("float64", cost=3e-7, gradient=2e-5),
        check("float32", actions=0.975),
        check("float32", cost=1.0, what="graphs, a generator of the device"),
    ]
    found = tables(
        "correctness",
        **{
            "pomo-cvrp": job({"checks": checks}),
            "pomo-tsp": job({"checks": checks}, state="unfinished"),
            "resumed-pomo-cvrp": job({"checks": [{"difference": 0.25}]}, commit="abcdefg"),
        },
    ).checks()
    assert shown(found) == [
        ["pomo-cvrp", "float64", "2", "100.0%", "3e-07", "2e-09", "2e-05"],
        ["pomo-cvrp", "float32", "1", "97.5%", "1e-09", "2e-09", "0e+00"],
    ]
    assert "from those of a whole one, in 1 runs: 0.25." in found.note
    assert "Commits 0123456 and abcdefg, a GPU with a processor, torch" in found.note


def test_ratios_have_a_column_for_each_size(tables):
    """A size without a ratio is empty there."""

    def figure(what, n, median):
        mark = {"what": what}
        return {"mark": mark, "problem": "tsp", "n": n, "value": {"median": median}}

    steps = [figure("a step", 20, 2.0), figure("a test", 20, 3.0)]
    small = job({"threads": 8, "figures": steps})
    large = job({"threads": 2, "figures": [figure("a step", 50, 1.234)]})
    found = tables("official", **{"tsp-20": small, "tsp-50": large}).ratios()
    assert found.header == ("median of 3 turns", "tsp 20", "tsp 50")
    assert shown(found) == [["a step", "2.00", "1.23"], ["a test", "3.00", ""]]
    assert "a GPU with 2 or 8 threads of a processor" in found.note


def test_failed_job_is_an_error(tables):
    """No table is made of the others: its text says that all hold."""
    found = tables("correctness", **{"pomo-cvrp": job({}, state="failed")})
    with pytest.raises(ValueError, match="correctness: failed: pomo-cvrp"):
        found.checks()


def test_run_has_the_time_of_a_step_of_each_size(tables):
    """Sizes ascend; both precisions have a row."""

    def result(factor):
        seconds = {"100 x 16": 0.0936 * factor, "20 x 64": 0.01 * factor}
        minutes = {"minutes of steps": 12.4 * factor, "minutes of tests": 0.5}
        return job({"steps": 1800, "seconds of a step": seconds, **minutes})

    found = tables("paper", float32=result(1), bfloat16=result(2)).run()
    assert found.header == (
        "", "a step, 20 x 64", "a step, 100 x 16", "all steps, min", "all tests, min",
    )  # fmt: skip
    assert shown(found) == [
        ["float32", "10 ms", "94 ms", "12.4", "0.5"],
        ["bfloat16", "20 ms", "187 ms", "24.8", "0.5"],
    ]
    assert found.note.startswith("1,800 steps")


def test_growth_has_a_row_for_each_size_and_batch(tables):
    """Small batches are first; what was not measured is empty."""

    def point(kind, n, batch, seconds):
        return job({"kind": kind, "n": n, "batch": batch, "seconds": seconds, "gib": 0.25})

    found = tables(
        "growth",
        a=point("solve", 100, 16, 0.5),
        b=point("step", 1000, 1, 2.0),
        c=point("solve", 1000, 1, 1.0),
        d=job({"left out": "expected 200 GiB and 3 s"}),
        picture=job({"picture": "growth.png", "points": 3}),
    ).growth()
    assert shown(found) == [
        ["1,000", "1", "1.00 s", "0.25 GiB", "2.00 s", "0.25 GiB"],
        ["100", "16", "0.50 s", "0.25 GiB", "", ""],
    ]
    assert found.note == "Commit 0123456, a GPU with a processor, torch 2.0."
