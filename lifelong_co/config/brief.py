"""A configuration in a few lines, for a terminal."""

import textwrap
from collections.abc import Mapping
from typing import Any

from lifelong_co.config.run_config import Config

WIDTH = 100
"""The most characters of a line."""
LINES = 2
"""The most lines of one kind of setting; the rest is in the file."""


def brief(config: Config, file: object) -> str:
    """Return at most eleven lines about a configuration that is in ``file``."""
    count = len(config.tasks)
    steps = sum(task.epochs * task.batches for task in config.tasks)
    words = f"{count} task{'s' * (count > 1)}, {steps} steps"
    lines = [
        f"{config.method} on {config.problem} with {config.solver}, preset {config.preset}, "
        f"seed {config.seed}, on {config.device}",
        *_lines(f"tasks ({words}): ", " ".join(task.label for task in config.tasks)),
        *_lines("tested on the instances that they learn: ", ", ".join(_seen(config)), most=1),
        *_lines("method: ", _pairs(config.method_options)),
        *_lines("solver: ", _pairs(config.solver_options)),
        *_lines("training: ", _pairs(_training(config))),
    ]
    return "\n".join([*lines, f"all settings: {file}", ""])


def _seen(config: Config) -> list[str]:
    """Return the tasks of files that have no test files."""
    return [task.label for task in config.tasks if task.files and not task.test_files]


def _training(config: Config) -> Mapping[str, Any]:
    names = ("objective", "learning_rate", "schedule", "precision", "tests", "curve_every")
    return {name: getattr(config, name) for name in names}


def _pairs(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _lines(heading: str, text: str, most: int = LINES) -> list[str]:
    """Return a heading and its text in at most so many lines; none without text."""
    if not text:
        return []
    return textwrap.wrap(
        heading + text, WIDTH, subsequent_indent="  ", max_lines=most, placeholder=" …"
    )
