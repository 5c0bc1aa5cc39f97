"""The paper's ablations of ``llr-bc`` (§4 and its appendix) by their short names.

Each stands for the options that make it, so that a run of it is resolved like any other.
"""

from collections.abc import Mapping
from typing import Any

from lifelong_co.errors import ConfigError, UnknownNameError

Options = dict[str, Any]

ABLATIONS: dict[str, Options] = {
    "nEW": {"weighting": "uniform"},
    "KLD": {"divergence": "kl"},
    "Ent": {"weighting": "entropy"},
    "T2M": {"weighting": "top2-margin"},
    "EE": {"record": "every-epoch"},
    "Res": {"buffer": "balanced"},
    "IB": {"unit": "solution", "buffer_size": 20, "replay_size": 1},
}
"""Short name to the options it stands for."""


def ablated(given: Mapping[str, Any]) -> Options:
    """Return options of ``llr-bc`` with those that their ``ablation``, if any, stands for.

    Parameters
    ----------
    given
        What somebody asked for; defaults and presets are no part of it, and give way.

    Raises
    ------
    UnknownNameError
        If there is no such ablation.
    ConfigError
        If an option was given that the ablation sets otherwise.
    """
    name = given.get("ablation", "")
    if not isinstance(name, str):
        raise ConfigError(f"ablation: expected a string, got {name!r}")
    if not name:
        return dict(given)
    if name not in ABLATIONS:
        raise UnknownNameError("ablation", name, ABLATIONS)
    for option, value in ABLATIONS[name].items():
        if given.get(option, value) != value:
            raise ConfigError(
                f"method 'llr-bc': ablation {name!r} is {option} = {value!r}: expected no "
                f"other {option} beside it, got {option} = {given[option]!r}"
            )
    return {**given, **ABLATIONS[name]}
