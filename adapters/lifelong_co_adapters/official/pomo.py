"""The official POMO (Kwon et al. 2020, github.com/yd-kwon/POMO) as a solver."""

from pathlib import Path

from lifelong_co.protocols import Problem
from lifelong_co_adapters.official.attention import OfficialAttention, build
from lifelong_co_adapters.official.locate import upstream


def official_pomo(
    problem: Problem,
    *,
    embedding_dim: int = 128,
    head_num: int = 8,
    qkv_dim: int = 16,
    encoder_layer_num: int = 6,
    ff_hidden_dim: int = 512,
    logit_clipping: float = 10.0,
) -> OfficialAttention:
    """Build the official POMO for TSP or CVRP, with the options and defaults of `pomo`.

    Raises
    ------
    ConfigError
        If an option is not above zero, the problem is neither TSP nor CVRP, or the official code is
        missing.
    """
    return build(
        "official-pomo",
        problem,
        folders,
        embedding_dim=embedding_dim,
        head_num=head_num,
        qkv_dim=qkv_dim,
        encoder_layer_num=encoder_layer_num,
        ff_hidden_dim=ff_hidden_dim,
        logit_clipping=logit_clipping,
    )


def folders() -> dict[str, Path]:
    """Return the folder of the official code for each problem."""
    root = upstream("POMO") / "NEW_py_ver"
    return {"tsp": root / "TSP" / "POMO", "cvrp": root / "CVRP" / "POMO"}
