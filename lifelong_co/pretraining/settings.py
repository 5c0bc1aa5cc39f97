"""The settings of a pretraining: the ``method_options`` in its configuration."""

from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.pretraining.algorithms import ALGORITHMS
from lifelong_co.pretraining.inner import Inner
from lifelong_co.registry.factory import make
from lifelong_co.validators import at_least, one_of, positive

# Preset to outer iterations: those of the paper have the official number; the others take minutes.
ITERATIONS = {"paper": 250_000, "paper-economy": 250_000, "small": 600, "demo": 200}
# Default of the highest number of iterations between two validations, so between two checkpoints.
SELDOM = 1000
# That of the official Omni-VRP (``train.py``).
WEIGHT_DECAY = 1e-6
USED = (
    *("solver", "solver_options", "problem", "order", "tasks_file", "seed", "device"),
    *("start_from", "tests", "tests_of", "augment", "symmetries", "weight_decay"),
)
"""The arguments of `config.resolve.resolve` that a meta-training uses."""


@attrs.frozen(kw_only=True)
class Settings:
    """The settings of meta-training; defaults are those of the official Omni-VRP (``train.py``).

    Parameters
    ----------
    iterations
        Updates of the meta-parameters, at least 1.
    inner_steps
        ``k``: steps of the adaptation to a task, each on a new batch; at least 1.
    inner_learning_rate
        Learning rate of these steps, above 0.
    inner_optimizer
        Optimizer of these steps, ``adam`` or ``sgd``.
    meta_learning_rate
        Learning rate of the meta-parameters, above 0: that of Adam, or ``epsilon`` of Reptile.
    meta_batch
        Tasks per iteration, at least 1; their gradients are averaged.
    validate_every
        Iterations between two validations, at least 1.
    """

    iterations: int = attrs.field(validator=at_least(1))
    inner_steps: int = attrs.field(default=1, validator=at_least(1))
    inner_learning_rate: float = attrs.field(default=1e-4, validator=positive)
    inner_optimizer: str = attrs.field(default="adam", validator=one_of("adam", "sgd"))
    meta_learning_rate: float = attrs.field(validator=positive)
    meta_batch: int = attrs.field(default=1, validator=at_least(1))
    validate_every: int = attrs.field(validator=at_least(1))

    def inner(self, weight_decay: float) -> Inner:
        """Return the settings of the adaptation to a task."""
        return Inner(self.inner_optimizer, self.inner_learning_rate, weight_decay, self.inner_steps)


def configure(
    *,
    algorithm: str = "fomaml",
    preset: str = "small",
    options: dict[str, Any] | None = None,
    **chosen: Any,
) -> Config:
    """Return the configuration of a pretraining.

    Parameters
    ----------
    algorithm
        ``reptile``, ``fomaml`` or ``maml``; becomes the configuration's ``method``.
    preset
        Gives the family of tasks, the model and the number of iterations.
    options
        Values for fields of `Settings`; None: the default.
    **chosen
        Those arguments of `config.resolve.resolve` that are in `USED`; None: the default.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value or a name is invalid, or a meta-training does not use an argument.
    """
    for name, value in chosen.items():
        if name not in USED and value is not None:
            raise ConfigError(f"{name}: a meta-training does not use it; it uses {', '.join(USED)}")
    if algorithm not in ALGORITHMS:
        raise UnknownNameError("meta-training algorithm", algorithm, ALGORITHMS)
    given, used = (
        {name: value for name, value in each.items() if value is not None}
        for each in (options or {}, chosen)
    )
    usual = ITERATIONS.get(preset, ITERATIONS["small"])
    rate = ALGORITHMS[algorithm].meta_learning_rate
    filled = _made({"iterations": usual, "meta_learning_rate": rate, "validate_every": 1, **given})
    if "validate_every" not in given:
        often = max(1, min(SELDOM, filled.iterations // 5))
        filled = attrs.evolve(filled, validate_every=often)
    made = attrs.asdict(filled)
    # The preset's settings for lifelong learning do not apply.
    own: dict[str, Any] = {
        "objective": "reinforce",
        "schedule": "constant",
        "learning_rate": made["inner_learning_rate"],
        "learning_rate_decay": 1.0,
        "optimizer": "adam",
        "weight_decay": WEIGHT_DECAY,
        "images": False,
        "fresh": True,
    }
    return resolve(method=algorithm, preset=preset, method_options=made, **{**own, **used})


def settings_of(config: Config, folder: Path) -> Settings:
    """Return the settings of a pretraining's configuration.

    Raises
    ------
    ConfigError
        If it is not the configuration of a pretraining, or a setting is invalid.
    """
    if config.method not in ALGORITHMS:
        raise ConfigError(
            f"{folder}: expected a pretraining by {', '.join(ALGORITHMS)}, got a run folder of"
            f" {config.method!r}"
        )
    return _made(config.method_options)


def _made(options: dict[str, Any]) -> Settings:
    made = make("pretraining", Settings, **options)
    assert isinstance(made, Settings)
    return made
