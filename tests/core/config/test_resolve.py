"""Configurations made from presets and what a caller gives."""

from typing import Any

import pytest

import lifelong_co as lco
from lifelong_co.config.presets import preset
from lifelong_co.config.resolve import resolve
from lifelong_co.tasks.orders import paper_order

BUDGET = "epochs = 2\nbatches = 3\nbatch_size = 4\n"


def test_preset_fills_missing_options() -> None:
    """Without options everything is the preset's, and its order too."""
    config, base = resolve(preset="demo"), preset("demo")
    assert (config.tests, config.curve_every) == (base.tests, base.curve_every)
    assert config.solver_options == base.solver_options["pomo"]
    assert config.method_options == base.method_options["llr-bc"]
    assert config.tasks == base.tasks(base.order, "pomo")
    assert (config.objective, config.schedule) == ("preference", "warmup-linear")
    assert (config.learning_rate, config.weight_decay) == (1.2e-3, 1e-6)
    other = resolve(preset="demo", solver="omni")
    assert (other.schedule, other.learning_rate) == ("linear", 3e-4)
    assert resolve(preset="demo", schedule="cosine").schedule == "cosine"
    assert resolve(preset="small").order == "1"
    assert resolve(preset="small", order=3).order == "3"
    assert resolve(method="fine-tuning").method_options == {}


def test_option_overrides_the_preset() -> None:
    """Other options stay the preset's, and None means the preset's value."""
    config, base = resolve(), resolve(preset="small")
    assert config == base
    other = resolve(
        order=2,
        method_options={"alpha": 3.5, "replay_size": 7},
        solver_options={"head_num": 4},
        tests=11,
        curve_every=None,
        learning_rate=0.5,
        seed=9,
    )
    assert other.method_options == {**base.method_options, "alpha": 3.5, "replay_size": 7}
    assert other.solver_options == {**base.solver_options, "head_num": 4}
    assert (other.tests, other.curve_every) == (11, base.curve_every)
    assert (other.learning_rate, other.seed) == (0.5, 9)
    assert tuple(task.distribution for task in other.tasks) == paper_order(2)
    assert preset("small").method_options["llr-bc"] == base.method_options  # untouched


def test_order_and_task_file_together_are_refused(task_file: Any) -> None:
    """They contradict each other."""
    path = task_file(BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5")
    with pytest.raises(lco.ConfigError, match="expected an order or a task file, got both"):
        resolve(order=1, tasks_file=path)
