"""The paper's ablations of methods, by their short names (§4 and appendix).

Each name is short for some method options, so a run of an ablation is resolved like any other run.
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
"""For each method: short name to the options it stands for."""


def ablated(method: str, given: Mapping[str, Any]) -> Options:
    """Return the given options together with those that the option ``ablation`` stands for.

    Parameters
    ----------
    method
        Registered name of the method. Without ablations of it, ``given`` is returned unchanged.
    given
        The options from the user. Defaults and presets do not belong here: an ablation
        overrides them.

    Raises
    ------
    UnknownNameError
        If the method has no ablation of this name.
    ConfigError
        If an option is given whose value differs from that of the ablation.
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
                f"method {method!r}: ablation {name!r} sets {option} = {value!r}: expected no "
                f"other {option}, got {option} = {given[option]!r}"
            )
    return {**given, **known[name]}
