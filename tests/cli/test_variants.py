"""Lifelong learning across variants: `run --problem mtvrp --order variants`."""

import functools
import json
import re
from pathlib import Path

import attrs
import pytest
import torch
from command_line import SMALL, call
from tiny_runs import stopped_and_resumed, tiny_config, tiny_learn

from lifelong_co import registry
from lifelong_co.config.run_config import Config, from_toml

NAMES = ["C", "TW", "O", "L", "B", "OTW"]
TINY = {"size": 6, "epochs": 1, "batches": 2, "batch_size": 4}


@functools.cache  # it measures how long the run takes
def configured() -> Config:
    """Return the configuration of the order ``variants``."""
    outcome = call(
        "run", "--problem", "mtvrp", "--order", "variants", "--preset", "small", "--dry-run"
    )
    assert outcome.status == 0, outcome.err
    return from_toml(outcome.out)


def test_order_has_six_tasks_with_their_attributes() -> None:
    """A letter of a task's name stands for an attribute; C has none."""
    config = configured()
    assert [task.label for task in config.tasks] == NAMES
    assert {(task.distribution, task.size, task.capacity) for task in config.tasks} == {
        ("U", 20, 30)
    }
    assert [set(task.attributes) for task in config.tasks] == [
        set(),
        {"time-windows"},
        {"open"},
        {"limit"},
        {"backhauls"},
        {"open", "time-windows"},
    ]


METHODS = [one.name for one in registry.components() if one.kind == "method"]
IN_SEQUENCE = [name for name in METHODS if not name.startswith("multi-task")]


@pytest.mark.parametrize("method", IN_SEQUENCE)
def test_methods_learn_the_order(method: str, tmp_path: Path) -> None:
    """A tiny run learns all six tasks, and tests each of them before and after (AG)."""
    tasks = tuple(attrs.evolve(task, **TINY) for task in configured().tasks)
    config = attrs.evolve(tiny_config(method, "mtvrp"), tasks=tasks)
    tiny_learn(config, tmp_path)
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["tasks"] == NAMES
    assert isinstance(metrics["metrics"]["AG"], float)
    first = metrics["costs"][0]
    assert len(set(first)) == 6  # the variants differ
    assert first[2] < first[0]  # an open route saves its way back


TASKS = """
epochs = 1
batches = 2
batch_size = 4
tasks = [
    {distribution = "U", size = 5},
    {distribution = "GM", size = 6, attributes = ["time-windows", "limit"]},
    {distribution = "E", size = 6, attributes = ["open", "backhauls"]},
]
"""


def test_run_of_a_task_file_has_references_and_gaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attributes of tasks on any distribution; PyVRP solves all tests, no gap is below 0."""
    pytest.importorskip("pyvrp")
    monkeypatch.chdir(tmp_path)
    Path("tasks.toml").write_text(TASKS)
    learned = call("run", "--problem=mtvrp", "--tasks=tasks.toml", "--out=folder", *SMALL)
    assert learned.status == 0, learned.err
    labels = json.loads(Path("folder", "metrics.json").read_text())["tasks"]
    assert labels == ["U5", "GM6 time-windows limit", "E6 open backhauls"]
    few = ("--iterations=50", "--restarts=2")
    found = call("reference", "--run=folder", *few)
    assert found.status == 0, found.err
    checked = call("reference", "--run=folder", "--check")
    assert checked.status == 0, checked.err
    shown = call("evaluate", "folder")
    assert shown.status == 0, shown.err
    gaps = re.findall(r"gap (-?[\d.]+)%", shown.out)
    assert len(gaps) == 3
    assert min(map(float, gaps)) >= 0


def test_unknown_attribute_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the task and lists the attributes."""
    monkeypatch.chdir(tmp_path)
    Path("tasks.toml").write_text(TASKS.replace("limit", "limits"))
    refused = call("run", "--problem=mtvrp", "--tasks=tasks.toml", "--out=folder", *SMALL)
    assert refused.status == 2
    assert "Did you mean 'limit'" in refused.err
    assert not Path("folder").exists()


@pytest.mark.parametrize("method", ["llr-bc", "li-inter"])
def test_resumed_run_is_the_run_that_was_not_stopped(method: str, tmp_path: Path) -> None:
    """Buffers with instances of several variants are saved and read again, infinities included."""
    tasks = tuple(attrs.evolve(task, **TINY) for task in configured().tasks[:3])
    config = attrs.evolve(tiny_config(method, "mtvrp"), tasks=tasks)
    whole = tiny_learn(config, tmp_path)
    resumed = stopped_and_resumed(config, tmp_path, after=5)
    for one, other in zip(
        whole.learner.solver.module.parameters(),
        resumed.learner.solver.module.parameters(),
        strict=True,
    ):
        assert torch.equal(one, other)
