"""The official Omni-VRP (Zhou et al. 2023, github.com/RoyalSkye/Omni-VRP) as a solver.

Their network can also take weights as an argument (``weights=``), for meta-training. Here it never
gets any, so ``meta_update_encoder``, which belongs to them, has no effect.
"""

from pathlib import Path

from lifelong_co.errors import UnknownNameError
from lifelong_co.protocols import Problem
from lifelong_co_adapters.official.attention import OfficialAttention, build
from lifelong_co_adapters.official.locate import upstream
from lifelong_co_adapters.pomo.normalization import NORMALIZATIONS


def official_omni(
    problem: Problem,
    *,
    embedding_dim: int = 128,
    head_num: int = 8,
    qkv_dim: int = 16,
    encoder_layer_num: int = 6,
    ff_hidden_dim: int = 512,
    logit_clipping: float = 10.0,
    norm: str = "instance",
) -> OfficialAttention:
    """Build the official Omni for TSP or CVRP, with the options and defaults of `omni`.

    Parameters
    ----------
    problem
        TSP or CVRP.
    embedding_dim, head_num, qkv_dim, encoder_layer_num, ff_hidden_dim, logit_clipping, norm
        See `omni`.

    Raises
    ------
    ConfigError
        If a number is not above zero, the problem is neither TSP nor CVRP, or the official code is
        missing.
    UnknownNameError
        If ``norm`` is not in `NORMALIZATIONS`.
    """
    if norm not in NORMALIZATIONS:
        raise UnknownNameError("normalisation of solver 'official-omni'", norm, NORMALIZATIONS)
    return build(
        "official-omni",
        problem,
        folders,
        embedding_dim=embedding_dim,
        head_num=head_num,
        qkv_dim=qkv_dim,
        encoder_layer_num=encoder_layer_num,
        ff_hidden_dim=ff_hidden_dim,
        logit_clipping=logit_clipping,
        norm=None if norm == "none" else norm,
        meta_update_encoder=True,
    )


def folders() -> dict[str, Path]:
    """Return the folder of the official code for each problem."""
    root = upstream("Omni-VRP") / "POMO"
    return {"tsp": root / "TSP", "cvrp": root / "CVRP"}
