"""Finished runs of the paper's methods in two orders."""

from pathlib import Path

import synthetic_runs

ORDERS = {"1": ("E", "C", "U"), "2": ("U", "E", "C")}
LLR_BC = {"weighting": "variance", "divergence": "rkl", "behavior": "probabilities", "alpha": 3.0,
          "buffer_size": 1000, "replay_size": 16, "replay_rows": 0.125}  # fmt: skip


def write(root: Path, name: str, method: str = "llr-bc", order: str = "1", **settings) -> Path:
    """Write a finished run of the preset `small`."""
    options = {**LLR_BC, **settings.pop("options", {})} if method == "llr-bc" else {}
    of = synthetic_runs.config(
        method, ORDERS[order], order=order, method_options=options, **settings
    )
    return synthetic_runs.write(root / name, of)
