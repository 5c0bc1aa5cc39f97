"""The settings that override those of a preset."""

import attrs
import numpy as np
import pytest

import lifelong_co as lco
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.config.settings import SETTINGS, given_settings


def test_settings_are_fields_of_a_configuration() -> None:
    """Each has a name there."""
    assert set(SETTINGS) <= {field.name for field in attrs.fields(Config)}


def test_settings_that_are_none_are_those_of_the_preset() -> None:
    """The others override it, by name or as a mapping."""
    given = given_settings({"tests": 3, "images": None}, {"optimizer": "adamw"})
    assert given == {"tests": 3, "optimizer": "adamw"}
    more = {"learning_rate": 0.5, "learning_rate_decay": 0.9, "symmetries": "random"}
    config = resolve(more_settings=more, tests=7)
    assert {name: getattr(config, name) for name in more} == more
    assert config.tests == 7
    paper = resolve(preset="paper", solver="invit", optimizer="adam")
    assert (paper.optimizer, paper.learning_rate_decay) == ("adam", 0.99)


def test_unknown_setting_or_one_given_twice_is_refused() -> None:
    """The error names it."""
    with pytest.raises(
        lco.UnknownNameError, match=r"setting 'optimiser'.*Did you mean 'optimizer'"
    ):
        resolve(more_settings={"optimiser": "adamw"})
    with pytest.raises(lco.UnknownNameError, match="Unknown setting 'sed'"):
        resolve(sed=3)
    with pytest.raises(lco.ConfigError, match="tests: expected one value, got 3 and 4"):
        resolve(tests=3, more_settings={"tests": 4})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("images", "yes", "images: expected true or false, got 'yes'"),
        ("augment", 1, "augment: expected true or false, got 1"),
        ("learning_rate", "fast", "learning_rate: expected at least 0, got 'fast'"),
        ("learning_rate", -1, "learning_rate: expected at least 0, got -1"),
        ("learning_rate_decay", -1.0, "learning_rate_decay: expected more than 0, got -1.0"),
        ("weight_decay", -1e-6, "weight_decay: expected at least 0, got -1e-06"),
        ("symmetries", 8, "Unknown symmetries '8'; expected one of: square, random"),
        (
            "schedule",
            "cosin",
            "Unknown schedule 'cosin'; expected one of: constant, cosine, linear,",
        ),
        ("loggers", "csv", "loggers: expected a list of names, got 'csv'"),
        ("objective_options", "beta", "objective_options: expected a table of options, got 'beta'"),
        ("optimizer", "sgd", "Unknown optimizer 'sgd'; expected one of: adam, adamw"),
    ],
)
def test_setting_with_a_wrong_value_is_refused(name: str, value: object, message: str) -> None:
    """The error names the setting and what it takes."""
    with pytest.raises(lco.LifelongError) as refused:
        resolve(more_settings={name: value})
    assert message in str(refused.value)


def test_numbers_of_numpy_become_plain_ones() -> None:
    """The files of a run hold no others; a rate of `np.logspace` would stop its first save."""
    config = resolve(
        seed=np.int64(3),
        more_settings={"learning_rate": np.float64(1e-3), "weight_decay": np.float32(0.5)},
        method_options={"alpha": np.float64(3.0), "more": [np.int64(2)]},
    )
    assert type(config.seed) is int
    assert type(config.learning_rate) is type(config.weight_decay) is float
    assert type(config.method_options["alpha"]) is float
    assert type(config.method_options["more"][0]) is int
