"""The settings of a run that continues: those it was started with, or refused by name."""

import re
from typing import Any

import attrs
import pytest
from tiny_runs import tiny_config

from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.errors import ConfigError
from lifelong_co.runs.settings import refuse_others
from lifelong_co.tasks.task import Task

CONFIG = tiny_config("llr-bc", alpha=3.0, buffer_size=8)


def other(config: Config = CONFIG, task: dict[str, Any] | None = None, **changed: Any) -> str:
    """Return the configuration as TOML with other settings; `task` changes the second task."""
    tasks = (config.tasks[0], attrs.evolve(config.tasks[1], **(task or {})))
    return to_toml(attrs.evolve(config, tasks=tasks, **changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": 1}, "seed: expected 0, got 1"),
        ({"tests": 4}, "tests: expected 3, got 4"),
        ({"learning_rate": 0.5}, "learning_rate: expected 0.01, got 0.5"),
        ({"device": "cuda"}, "device: expected 'cpu', got 'cuda'"),
        ({"method": "fine-tuning"}, "method: expected 'llr-bc', got 'fine-tuning'"),
        (
            {"method_options": {"alpha": 5.0, "buffer_size": 8}},
            "method_options.alpha: expected 3.0, got 5.0",
        ),
        (
            {"solver_options": {**CONFIG.solver_options, "head_num": 4}},
            "solver_options.head_num: expected 2, got 4",
        ),
        ({"task": {"batch_size": 6}}, "task 2 batch_size: expected 4, got 6"),
        ({"task": {"batches": 6}}, "task 2 batches: expected 2, got 6"),
        ({"task": {"capacity": 6}}, "task 2 capacity: expected None, got 6"),
    ],
)
def test_other_settings_are_refused_by_name(changed: dict[str, Any], said: str) -> None:
    """The message has the old value and the new one."""
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}$"):
        refuse_others(other(), other(**changed))


def test_many_differences_are_counted() -> None:
    """Five are shown."""
    more = {"seed": 1, "tests": 9, "curve_every": 9, "augment": True, "weight_decay": 0.5}
    changed = attrs.evolve(CONFIG, tasks=CONFIG.tasks[:1], preset="other", **more)
    with pytest.raises(ConfigError, match=r"^number of tasks: expected 2, got 1; preset: ") as no:
        refuse_others(other(), to_toml(changed))
    assert str(no.value).count(";") == 5
    assert str(no.value).endswith("; and 2 more")


def test_what_cannot_change_a_result_may_differ() -> None:
    """The number of a GPU, the folder of a path, a default that is written out."""
    files = {"distribution": "", "size": 0, "files": "/data/set", "test_files": "/data/test.npz"}
    moved = {"distribution": "", "size": 0, "files": "/old/set", "test_files": "/b/test.npz"}
    refuse_others(other(device="cuda:0", task=files), other(device="cuda:1", task=moved))
    refuse_others(other(order="a/tasks.toml"), other(order="tasks.toml"))
    refuse_others(
        other(start_from="/runs/a", buffer_from="/runs/b"),
        other(start_from="/old/a", buffer_from="/old/b"),
    )
    spelled = {**CONFIG.method_options, "weighting": "variance"}
    refuse_others(other(), other(method_options=spelled))
    preference = {"objective": "preference"}
    default, other_beta = ({"objective_options": {"beta": beta}} for beta in (0.05, 1.0))
    refuse_others(other(**preference), other(**preference, **default))
    with pytest.raises(ConfigError, match=r"^objective_options.beta: expected None, got 1.0$"):
        refuse_others(other(**preference), other(**preference, **other_beta))
    with pytest.raises(ConfigError, match=r"^objective: expected 'reinforce', got 'preference'$"):
        refuse_others(other(), other(**preference, **other_beta))
    with pytest.raises(ConfigError, match="task 2 files: expected 'set', got 'other'"):
        refuse_others(other(task=files), other(task={**files, "files": "/data/other"}))


def test_settings_are_compared_as_they_are_read() -> None:
    """An option that has another name today is no difference; a whole number may be a float."""
    whole = to_toml(attrs.evolve(CONFIG, learning_rate=1))
    refuse_others(whole, to_toml(attrs.evolve(CONFIG, learning_rate=1.0)))
    assert isinstance(CONFIG.tasks[0], Task)
