"""A configuration in at most eleven lines."""

import re

import attrs
from tiny_runs import tiny_config

from lifelong_co.config.brief import brief
from lifelong_co.tasks.task import Task


def test_few_lines_name_the_main_settings():
    """Method, problem, solver, tasks, options, and the file with the rest."""
    text = brief(tiny_config(alpha=3.0), "runs/a/config.toml")
    lines = text.splitlines()
    assert lines[0] == "llr-bc on tsp with pomo, preset tiny, seed 0, on cpu"
    assert lines[1] == "tasks (2 tasks, 8 steps): U5 U6"
    assert "method: alpha 3.0" in lines
    assert lines[-1] == "all settings: runs/a/config.toml"


def test_long_configurations_are_cut():
    """A thousand tasks and many options still have at most eleven lines of 100 characters."""
    config = tiny_config(sizes=tuple(range(5, 1005)))
    many = {f"option_{i}": "a long value" for i in range(99)}
    lines = brief(attrs.evolve(config, method_options=many, solver_options=many), "x").splitlines()
    assert len(lines) <= 11
    assert max(map(len, lines)) <= 100
    assert lines[2].endswith(" …")


def test_tasks_without_test_files_are_named():
    """Their costs are of the instances that they learned from."""
    budget = {"epochs": 1, "batches": 1, "batch_size": 1}
    tasks = [Task(name=name, files="a.npz", **budget) for name in ("may", "june")]
    tasks[1] = attrs.evolve(tasks[1], test_files="b.npz")
    text = brief(attrs.evolve(tiny_config(), tasks=tuple(tasks)), "x")
    assert "tested on the instances that they learn: may" in text.splitlines()
    assert "that they learn" not in brief(tiny_config(), "x")
    many = [attrs.evolve(tasks[0], name=f"month number {i}") for i in range(12)]
    text = brief(attrs.evolve(tiny_config(), tasks=tuple(many)), "x")
    assert re.search("learn: month number 0, .* …$", text, re.MULTILINE)
