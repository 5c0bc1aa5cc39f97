"""The options of solvers in presets, and what INViT's code does differently from POMO's."""

from typing import Any

from lifelong_co.problems.images import RANDOM

Options = dict[str, Any]

INVIT_SETTINGS: Options = {
    "images": True,
    "augment": True,
    "symmetries": RANDOM,
    "optimizer": "adamw",
    "learning_rate": 2e-5,
    "learning_rate_decay": 0.99,
    "weight_decay": 1e-2,
}
"""Settings of a run of INViT in its code (``train.py``); the weight decay is torch's default."""
INVIT_OPTIONS: Options = {
    "strict_capacity": True,
    "trial_batches": 80,
    "trial_tolerance": 1e-3,
    "trial_images": True,
}
"""Its rule of capacity, and its trial of the baseline (``training_loop.py``)."""


def models(
    layers: int, norm: str, *, width: int, state_k: tuple[int, int], action_k: int, **invit: Any
) -> dict[str, Options]:
    """Return the options of the solvers, ours and the official ones; ``invit`` is for INViT."""
    attention = {
        "embedding_dim": 128,
        "head_num": 8,
        "qkv_dim": 16,
        "encoder_layer_num": layers,
        "ff_hidden_dim": 512,
        "logit_clipping": 10.0,
    }
    views = {
        "dim_emb": width,
        "dim_ff": 4 * width,
        "nb_heads": 8,
        "action_k": action_k,
        "state_k": list(state_k),
        **invit,
    }
    omni = {**attention, "norm": norm}
    ours: dict[str, Options] = {"pomo": attention, "omni": omni, "invit": views}
    return {**ours, **{f"official-{name}": options for name, options in ours.items()}}


def ours_and_official(value: Any, solver: str) -> dict[str, Any]:
    """Return the value for a solver and for the official code of it."""
    return {solver: value, f"official-{solver}": value}
