"""Options and settings of an earlier version, in the words of this version.

Run folders and grid files of that version still hold them. A value that this version has in another
form is translated, and one that had no effect is dropped; a value that changed what a run does, and
is gone, is refused.
"""

from collections.abc import Mapping
from typing import Any

from lifelong_co.errors import ConfigError

Options = dict[str, Any]

FORMER: dict[str, dict[str, dict[Any, Options]]] = {
    "llr-bc": {
        "unit": {"step": {}, "solution": {"bundle_size": 0}},
        "row_choice": {"weight": {}},
        "reverse_share": {0.5: {}},
        "adaptive_replay": {0.0: {}},
    },
}
"""Method to former option to each value that can still be read, with the options it stands for."""


def translated(method: str, options: Mapping[str, Any], source: str) -> Options:
    """Return options of a method without former ones.

    Parameters
    ----------
    method
        Its registered name. The options of a method without former options stay.
    options
        May hold former options.
    source
        Where they come from; named in errors.

    Raises
    ------
    ConfigError
        If a former option has a value that no option of this version stands for.
    """
    former = FORMER.get(method, {})
    found = {name: value for name, value in options.items() if name not in former}
    for name in (name for name in options if name in former):
        known = [meant for value, meant in former[name].items() if value == options[name]]
        if not known:
            values = " or ".join(map(repr, former[name]))
            raise ConfigError(
                f"{source}: method {method!r}: the option {name} is gone: expected {values}, "
                f"got {options[name]!r}; only an earlier lifelong-co can run it"
            )
        found.update(known[0])
    return found


def without_idle(data: Options) -> Options:
    """Return the settings of a stored run without those of tasks that had no effect.

    A new task with such a setting is refused (`tasks.task.Task`).
    """
    tasks = data.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        return data  # is refused later, with its place
    return {**data, "tasks": [_useful(task) for task in tasks]}


def _useful(task: Options) -> Options:
    idle = "test_files"
    if task.get("files"):
        idle = "" if task.get("drift_from") else "capacity"
    return {name: value for name, value in task.items() if name != idle}
