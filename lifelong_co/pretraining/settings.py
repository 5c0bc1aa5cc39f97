"""The settings of a pretraining: the ``method_options`` of its run folder."""

from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.run_config import Config, resolve
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.pretraining.algorithms import ALGORITHMS
from lifelong_co.pretraining.inner import Inner
from lifelong_co.registry.factory import make
from lifelong_co.validators import at_least, positive

# Preset to outer iterations: the official number, and what takes a few minutes on two cores.
ITERATIONS = {"paper": 250_000, "small": 600, "demo": 200}
# At most so many iterations between two validations, and thus between two checkpoints.
SELDOM = 1000


def _optimizer(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:  # noqa: ARG001
    if value not in ("adam", "sgd"):
        raise UnknownNameError(attribute.name, value, ("adam", "sgd"))


@attrs.frozen(kw_only=True)
class Settings:
    """How to meta-train; the defaults are the official code's (Omni-VRP, ``train.py``).

    Parameters
    ----------
    iterations
        Steps of the meta-parameters.
    inner_steps
        ``k``: steps on a task, each on another batch.
    inner_learning_rate, inner_optimizer
        Of these steps; ``adam`` or ``sgd``.
    meta_learning_rate
        Of the meta-parameters: Adam's, or Reptile's ``epsilon``.
    meta_batch
        Tasks of an iteration; their gradients are averaged.
    validate_every
        Iterations between two validations.
    """

    iterations: int = attrs.field(validator=at_least(1))
    inner_steps: int = attrs.field(default=1, validator=at_least(1))
    inner_learning_rate: float = attrs.field(default=1e-4, validator=positive)
    inner_optimizer: str = attrs.field(default="adam", validator=_optimizer)
    meta_learning_rate: float = attrs.field(validator=positive)
    meta_batch: int = attrs.field(default=1, validator=at_least(1))
    validate_every: int = attrs.field(validator=at_least(1))

    def inner(self, weight_decay: float) -> Inner:
        """Return how a solver adapts to a task."""
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
        The fields of `Settings` that are not to have their defaults; None: the default.
    **chosen
        Of `lifelong_co.config.resolve`: ``solver``, ``problem``, ``tasks_file``, ``seed``, …

    Raises
    ------
    ConfigError, UnknownNameError
        If a value or a name cannot be used.
    """
    if algorithm not in ALGORITHMS:
        raise UnknownNameError("meta-training algorithm", algorithm, ALGORITHMS)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    iterations = given.get("iterations", ITERATIONS.get(preset, ITERATIONS["small"]))
    filled = {
        "iterations": iterations,
        "meta_learning_rate": ALGORITHMS[algorithm].meta_learning_rate,
        "validate_every": max(1, min(SELDOM, int(iterations) // 5)),
        **given,
    }
    made = attrs.asdict(_made(filled))
    return resolve(method=algorithm, preset=preset, method_options=made, **chosen)


def settings_of(config: Config, folder: Path) -> Settings:
    """Return the settings of a pretraining's configuration.

    Raises
    ------
    ConfigError
        If it is the configuration of something else, or a setting cannot be used.
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
