"""Check that the sizes of INViT's network fit together, for ours and for the official network."""

from collections.abc import Mapping, Sequence

from lifelong_co.errors import ConfigError
from lifelong_co.validators import above_zero


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
    above_zero(solver, {**sizes, "num_state_encoder": num_state_encoder})
    width, heads, least = sizes["dim_emb"], sizes["nb_heads"], sizes["action_k"]
    if width % heads:
        raise ConfigError(
            f"solver {solver!r}: dim_emb: expected a multiple of nb_heads = {heads}, got {width}"
        )
    listed = isinstance(state_k, Sequence) and all(isinstance(k, int) for k in state_k)
    if not listed or len(state_k) != num_state_encoder or min(state_k) < least:
        raise ConfigError(
            f"solver {solver!r}: state_k: expected a list of num_state_encoder = "
            f"{num_state_encoder} whole numbers, none below action_k = {least}, "
            f"got {list(state_k) if listed else state_k!r}"
        )
