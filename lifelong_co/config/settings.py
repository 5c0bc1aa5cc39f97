"""The settings of a run that a preset has values for, and that the caller can override."""

from typing import Any

from lifelong_co.errors import ConfigError, UnknownNameError

Options = dict[str, Any]
ALL, NEXT = "all", "next"
"""The values of `run_config.Config.tests_after`."""

SETTINGS = (
    "tests",
    "curve_every",
    "tests_after",
    "augment",
    "images",
    "symmetries",
    "objective",
    "objective_options",
    "optimizer",
    "learning_rate",
    "learning_rate_decay",
    "schedule",
    "weight_decay",
    "precision",
    "one_pass",
    "loggers",
)
"""Fields of `run_config.Config`."""


def given_settings(settings: Options, more: Options) -> Options:
    """Return the settings of both mappings, without those that are None in the first.

    Raises
    ------
    UnknownNameError
        If a name is not in `SETTINGS`.
    ConfigError
        If both mappings have a value for a name.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    for name in (*settings, *more):
        if name not in SETTINGS:
            raise UnknownNameError("setting", name, SETTINGS)
        if name in given.keys() & more.keys():
            raise ConfigError(f"{name}: expected one value, got {given[name]!r} and {more[name]!r}")
    return {**given, **more}
