"""Lifelong learning across variants: `run --problem mtvrp --order variants`."""

import json
from pathlib import Path

import attrs
import pytest
from command_line import call
from tiny_runs import tiny_config, tiny_learn

from lifelong_co.config.run_config import Config, from_toml

NAMES = ["C", "TW", "O", "L", "B", "OTW"]
TINY = {"size": 6, "epochs": 1, "batches": 2, "batch_size": 4}


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


@pytest.mark.parametrize("method", ["fine-tuning", "llr-bc", "li-inter", "feng"])
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
