"""Options of methods that an earlier version knew, in the words of this version.

Run folders and grid files of that version still hold them. A value that this version has in another
form is translated; a value that changed what a run does, and is gone, is refused.
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
