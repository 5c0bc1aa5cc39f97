"""The widths of INViT's tokens, and checks that a problem and the sizes of the network fit."""

from collections.abc import Mapping, Sequence

import attrs

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Problem
from lifelong_co.validators import above_zero, number


def check_sizes(
    solver: str, sizes: Mapping[str, int], num_state_encoder: int, state_k: Sequence[int]
) -> None:
    """Check that sizes fit together.

    Parameters
    ----------
    solver
        The solver's name, for the message.
    sizes
        All other sizes by option; ``dim_emb``, ``nb_heads`` and ``action_k`` are required.
    num_state_encoder, state_k
        The number of state encoders, and the number of nodes that each of them sees.

    Raises
    ------
    ConfigError
        If an option does not fit; the message names it.
    """
    above_zero(f"solver {solver!r}", {**sizes, "num_state_encoder": num_state_encoder})
    width, heads, least = sizes["dim_emb"], sizes["nb_heads"], sizes["action_k"]
    if width % heads:
        raise ConfigError(
            f"solver {solver!r}: dim_emb: expected a multiple of nb_heads = {heads}, got {width}"
        )
    listed = isinstance(state_k, Sequence) and all(
        isinstance(number(k), int) and not isinstance(k, bool) for k in state_k
    )
    if not listed or len(state_k) != num_state_encoder or min(state_k) < least:
        raise ConfigError(
            f"solver {solver!r}: state_k: expected a list of num_state_encoder = "
            f"{num_state_encoder} whole numbers, none below action_k = {least}, "
            f"got {list(state_k) if listed else state_k!r}"
        )


def token_widths(problem: Problem) -> dict[str, int]:
    """Return the number of features of each kind of token, coordinates included.

    A node has its features, the last node its coordinates and the scalars of the state, the anchor
    the features of the depot, or without a depot the coordinates of the first node.

    Raises
    ------
    ConfigError
        If INViT cannot read the problem: its views need coordinates, and its anchor a depot or the
        first node.
    """
    kinds = tuple(problem.feature_dims)
    roles = sorted(problem.context_nodes)

    def refuse(expected: str, got: object) -> None:
        raise ConfigError(f"invit: problem {problem.name!r}: expected {expected}, got {got}")

    fields = [field.name for field in attrs.fields(problem.instances_type)]
    if "nodes" not in fields:
        refuse("instances with coordinates (nodes)", ", ".join(fields))
    if kinds not in (("node",), ("depot", "node")):
        refuse("features of node, or of depot and node in this order", ", ".join(kinds) or "none")
    for kind, width in problem.feature_dims.items():
        if width < 2:
            refuse(f"two coordinates as the first features of a {kind}", f"{width} features")
    needed = ["last"] if "depot" in kinds else ["first", "last"]
    if roles != needed:
        refuse(f"the roles {', '.join(needed)} in its context", ", ".join(roles) or "none")
    return {
        "node": problem.feature_dims["node"],
        "last": 2 + problem.context_scalars,
        "anchor": problem.feature_dims.get("depot", 2),
    }
