"""Ablations of methods by their short names: those of the paper (§4 and its appendix).

Each stands for the options that make it, so that a run of it is resolved like any other.
"""

from collections.abc import Mapping
from typing import Any

from lifelong_co.errors import ConfigError, UnknownNameError

Options = dict[str, Any]

ABLATIONS: dict[str, dict[str, Options]] = {
    "llr-bc": {
        "nEW": {"weighting": "uniform"},
        "KLD": {"divergence": "kl"},
        "Ent": {"weighting": "entropy"},
        "T2M": {"weighting": "top2-margin"},
        "EE": {"record": "every-epoch"},
        "Res": {"buffer": "balanced"},
        "IB": {"bundle_size": 0, "buffer_size": 20, "replay_size": 1},
    },
}
"""Method to short name to the options that the name stands for."""


def ablated(method: str, given: Mapping[str, Any]) -> Options:
    """Return options of a method with those that their ``ablation``, if any, stands for.

    Parameters
    ----------
    method
        Its registered name. The options of a method without ablations are returned unchanged.
    given
        The options that were asked for, without defaults and presets, which give way.

    Raises
    ------
    UnknownNameError
        If there is no such ablation.
    ConfigError
        If an option was given that the ablation sets otherwise.
    """
    known = ABLATIONS.get(method)
    if known is None:
        return dict(given)
    name = given.get("ablation", "")
    if not isinstance(name, str):
        raise ConfigError(f"ablation: expected a string, got {name!r}")
    if not name:
        return dict(given)
    if name not in known:
        raise UnknownNameError("ablation", name, known)
    for option, value in known[name].items():
        if given.get(option, value) != value:
            raise ConfigError(
                f"method {method!r}: ablation {name!r} is {option} = {value!r}: expected no "
                f"other {option} beside it, got {option} = {given[option]!r}"
            )
    return {**given, **known[name]}
