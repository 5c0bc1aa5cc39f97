"""The official Omni-VRP (Zhou et al. 2023, github.com/RoyalSkye/Omni-VRP) as a solver.

Their network takes weights as an argument, too (``weights=``), for meta-training; it is never
given any here, so ``meta_update_encoder``, which is read with them only, plays no part.
"""

from pathlib import Path

from lifelong_co.errors import UnknownNameError
from lifelong_co.protocols import Problem
from lifelong_co_adapters.official.attention import OfficialAttention, build
from lifelong_co_adapters.official.locate import upstream

NORMS = {
    "instance": "instance",
    "batch": "batch",
    "batch_no_track": "batch_no_track",
    "rezero": "rezero",
    "none": None,
}
"""Our ``norm`` to theirs."""


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
    """Build the official Omni for TSP or CVRP; options and defaults are those of `omni`.

    Parameters
    ----------
    problem
        TSP or CVRP.
    embedding_dim, head_num, qkv_dim, encoder_layer_num, ff_hidden_dim, logit_clipping, norm
        As for `omni`.

    Raises
    ------
    ConfigError
        If a number is not above zero, the problem is another, or the official code is missing.
    UnknownNameError
        If ``norm`` is none of the five.
    """
    if norm not in NORMS:
        raise UnknownNameError("normalisation of solver 'official-omni'", norm, NORMS)
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
        norm=NORMS[norm],
        meta_update_encoder=True,
    )


def folders() -> dict[str, Path]:
    """Return where the official code of each problem lies."""
    root = upstream("Omni-VRP") / "POMO"
    return {"tsp": root / "TSP", "cvrp": root / "CVRP"}
