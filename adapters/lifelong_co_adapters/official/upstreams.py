"""The official codebases, and the commits with which lifelong-co is compared."""

import attrs

from lifelong_co.errors import UnknownNameError


@attrs.frozen
class Upstream:
    """One official codebase."""

    url: str
    commit: str
    """The full hash; the submodule has the same commit."""


UPSTREAMS = {
    "POMO": Upstream(
        url="https://github.com/yd-kwon/POMO.git",
        commit="d7c3d6ea580499a53e874fe9e065f69e799a8551",
    ),
    "Omni-VRP": Upstream(
        url="https://github.com/RoyalSkye/Omni-VRP.git",
        commit="8950e159ed4fb6cd17da5b53aa12dcc9f3e98772",
    ),
    "INViT": Upstream(
        url="https://github.com/Kasumigaoka-Utaha/INViT.git",
        commit="f11a6024870036f5d7a7826e0955bd4e6dd350dd",
    ),
    "LLR-BC": Upstream(
        url="https://github.com/PeiJY/LLR-BC.git",
        commit="9ae601f06bd3ba1d95765621c4cbc586c0ccb937",
    ),
}


def pinned(name: str) -> Upstream:
    """Return an official codebase.

    Raises
    ------
    UnknownNameError
        If the name is not in `UPSTREAMS`.
    """
    if name not in UPSTREAMS:
        raise UnknownNameError("official codebase", name, UPSTREAMS)
    return UPSTREAMS[name]
