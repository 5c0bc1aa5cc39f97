"""The settings of a pretraining: defaults and refusals."""

from pathlib import Path

import attrs
import pytest

from lifelong_co.errors import (
    ConfigError,
    UnknownNameError,
)
from lifelong_co.pretraining.algorithms import ALGORITHMS
from lifelong_co.pretraining.settings import configure, settings_of


def test_missing_settings_have_defaults():
    """The configuration has all settings; every preset has a scale."""
    for algorithm, preset in (("reptile", "demo"), ("fomaml", "small"), ("maml", "paper")):
        config = configure(algorithm=algorithm, preset=preset)
        settings = settings_of(config, Path("folder"))
        assert config.method == algorithm
        assert config.method_options == attrs.asdict(settings)
        assert settings.meta_learning_rate == ALGORITHMS[algorithm].meta_learning_rate
        assert len(config.tasks) > 1


@pytest.mark.parametrize("solver", ["omni", "invit"])
def test_pretraining_leaves_out_what_paper_asks_of_lifelong_runs(solver):
    """No start, whole batches without images, and the weight decay of Omni's code."""
    config = configure(preset="paper", solver=solver)
    assert (config.start_from, config.images, config.weight_decay) == ("", False, 1e-6)
    assert [task.batch_size for task in config.tasks] == [32, 16, 32, 64, 64, 16]
    assert (config.optimizer, config.learning_rate_decay) == ("adam", 1.0)
    assert configure(preset="paper", solver=solver, weight_decay=0.5).weight_decay == 0.5
    assert configure(preset="paper", solver=solver, weight_decay=None) == config


@pytest.mark.parametrize("preset", ["demo", "small", "paper"])
def test_configuration_states_what_a_pretraining_does(preset):
    """It learns by the solver's own objective, at the constant rate of its inner steps."""
    config = configure(algorithm="maml", preset=preset, solver="omni", problem="tsp")
    assert (config.objective, config.objective_options, config.schedule) == (
        "reinforce",
        {},
        "constant",
    )
    assert config.learning_rate == settings_of(config, Path("folder")).inner_learning_rate


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"algorithm": "mamal"}, "Unknown meta-training algorithm 'mamal'.*Did you mean 'maml'"),
        ({"options": {"inner_step": 1}}, "pretraining: Unknown option 'inner_step'"),
        ({"options": {"inner_optimizer": "Adam"}}, "inner_optimizer 'Adam'.*Did you mean 'adam'"),
        ({"options": {"meta_learning_rate": 0.0}}, "meta_learning_rate: expected more than 0"),
        ({"options": {"inner_steps": 0}}, "inner_steps: expected a whole number of at least 1"),
        ({"options": {"iterations": 2.5}}, "iterations: expected a whole number"),
        ({"options": {"iterations": "many"}}, "iterations: expected a whole number"),
        ({"objective": "preference"}, "objective: a meta-training does not use it; it uses solver"),
        ({"learning_rate": 1e-3}, "learning_rate: a meta-training does not use it"),
        ({"schedule": "cosine"}, "schedule: a meta-training does not use it"),
    ],
)
def test_unusable_setting_is_refused(keywords, expected):
    """The error names the setting and what it accepts."""
    with pytest.raises((ConfigError, UnknownNameError), match=expected):
        configure(**keywords)
