"""Omni as a solver (Zhou et al. 2023). It learns and decodes like POMO.

It differs from POMO in the parameters at the start, which are meta-learned to adapt fast
(`lifelong_co.pretraining`).
"""

from typing import Any

from lifelong_co.errors import UnknownNameError
from lifelong_co.protocols import Problem
from lifelong_co.validators import above_zero
from lifelong_co_adapters.pomo.network import Network
from lifelong_co_adapters.pomo.normalization import NORMALIZATIONS
from lifelong_co_adapters.pomo.solver import POMO


def omni(
    problem: Problem,
    *,
    embedding_dim: int = 128,
    head_num: int = 8,
    qkv_dim: int = 16,
    encoder_layer_num: int = 6,
    ff_hidden_dim: int = 512,
    logit_clipping: float = 10.0,
    norm: str = "instance",
) -> POMO:
    """Build Omni for a problem; the options have the names of the official code.

    Parameters
    ----------
    problem
        The problem, e.g. ``lco.problem("cvrp")``.
    norm
        ``instance``, ``batch``, ``batch_no_track`` (the one of the published weights), ``rezero``
        or ``none``.
    embedding_dim, head_num, qkv_dim, encoder_layer_num, ff_hidden_dim, logit_clipping
        See `pomo`.

    Raises
    ------
    ConfigError
        If an option is not above zero.
    UnknownNameError
        If the normalisation has another name.
    """
    options: dict[str, Any] = {
        "embedding_dim": embedding_dim,
        "head_num": head_num,
        "qkv_dim": qkv_dim,
        "encoder_layer_num": encoder_layer_num,
        "ff_hidden_dim": ff_hidden_dim,
        "logit_clipping": logit_clipping,
    }
    above_zero("solver 'omni'", options)
    if norm not in NORMALIZATIONS:
        raise UnknownNameError("normalisation of solver 'omni'", norm, NORMALIZATIONS)
    return POMO(problem=problem, module=Network(problem, **options, norm=norm))
