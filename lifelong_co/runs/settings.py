"""The settings that a run was started with, compared with those that it is to continue with."""

from pathlib import Path
from typing import Any

import attrs
import cattrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config, from_toml
from lifelong_co.errors import ConfigError

PLACES = ("order", "start_from", "buffer_from", "files", "test_files")
"""Settings that are paths; their folder may change, because data sets and runs can be moved."""
SHOWN = 5  # differences in a message


def refuse_others(saved: str, given: str) -> None:
    """Raise an error unless a run continues with the settings that its checkpoint holds.

    Only what cannot change a result may differ: the number of a device, the folder of a path, and
    an option that is written out with its default value. There may be further tasks, unless the
    method learns all tasks at once.

    Parameters
    ----------
    saved, given
        The configuration in the checkpoint and the one to continue with, from
        `run_config.to_toml`.

    Raises
    ------
    ConfigError
        If they differ; the message names the settings.
    """
    if saved == given:
        return
    before, now = from_toml(saved), from_toml(given)
    k = len(before.tasks)
    if len(now.tasks) > k and not registry.knows_all_tasks(now.method, now.method_options):
        now = attrs.evolve(now, tasks=now.tasks[:k], order=before.order)
    differing = [
        f"{name}: expected {one!r:.80}, got {two!r:.80}"
        for name, (one, two) in differences(before, now).items()
    ]
    if differing:
        more = len(differing) - SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        raise ConfigError("; ".join(differing[:SHOWN] + rest))


def differences(one: Config, two: Config) -> dict[str, tuple[Any, Any]]:
    """Return the settings that can change a result and differ, with both values.

    Names are for example ``method_options.alpha`` and ``task 2 epochs``.
    """
    first, second = _plain(one), _plain(two)
    both = {name: (first.get(name), second.get(name)) for name in (*first, *second)}
    unlike = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
    # The options of another method differ anyhow, and so do the tasks of another sequence.
    whole = {name: f"{name}_options." for name in ("solver", "method", "objective")}
    whole["number of tasks"] = "task "
    hidden = tuple(prefix for name, prefix in whole.items() if name in unlike)
    return {name: pair for name, pair in unlike.items() if not name.startswith(hidden)}


def with_defaults(config: Config) -> Config:
    """Return a run with all options of solver and method, and the changed ones of the objective.

    A configuration of an older version lacks some options.
    """
    objective = registry.changed_options("objective", config.objective, config.objective_options)
    return attrs.evolve(
        config,
        solver_options=registry.all_options("solver", config.solver, config.solver_options),
        method_options=registry.all_options("method", config.method, config.method_options),
        objective_options=objective,
    )


def _plain(config: Config) -> dict[str, Any]:
    """Return all settings by name, e.g. ``method_options.alpha`` or ``task 2 epochs``."""
    device = config.device.partition(":")[0]
    found = cattrs.unstructure(attrs.evolve(with_defaults(config), device=device))
    tasks = found.pop("tasks")
    del found["loggers"]  # they change no result
    named: dict[str, Any] = {"number of tasks": len(tasks)}
    for name, value in found.items():
        if isinstance(value, dict):
            named |= {f"{name}.{key}": one for key, one in value.items()}
        else:
            named[name] = Path(value).name if name in PLACES else value
    for number, task in enumerate(tasks, start=1):
        for name, value in task.items():
            named[f"task {number} {name}"] = Path(value).name if name in PLACES else value
    return named
