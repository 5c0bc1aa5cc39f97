"""Presets: everything a run needs, at three scales.

``paper`` has the paper's sizes and budgets (§4 and appendix); ``small`` and ``demo`` are smaller.
"""

from typing import Any

import attrs

from lifelong_co.config.preset import Preset, Scale
from lifelong_co.config.solver_options import (
    INVIT_OPTIONS,
    INVIT_SETTINGS,
    models,
    ours_and_official,
)
from lifelong_co.errors import UnknownNameError
from lifelong_co.tasks.orders import paper_order
from lifelong_co.tensors.schedule import CONSTANT, OFFICIAL_TSP

Options = dict[str, Any]


def _scales(small: Scale, middle: Scale, large: Scale) -> dict[str, Scale]:
    return {"U": small, "R": small, "G": middle, "E": middle, "C": large, "GM": large}


def _exact() -> dict[str, Options]:
    """Return the options of the official code."""
    return {
        "llr-bc": {
            "weighting": "variance",
            "divergence": "rkl",
            "behavior": "official",
            "alpha": 100.0,
            "buffer_size": 1000,
            "replay_size": 16,
            "replay_rows": 1.0,
            "buffer": "reservoir",
            "record": "last-epoch",
            "bundle_size": 1,
            "official_replay": True,
        },
        "libog": {"variant": "official"},
        "multi-task-epoch": {"variant": "official"},
        "multi-task-batch": {"variant": "official"},
    }


def _economy(behavior: str, buffer_size: int) -> Options:
    """Return options of LLR-BC that replay few rows of many bundles (docs/performance.md)."""
    return {
        "weighting": "variance",
        "divergence": "rkl",
        "behavior": behavior,
        "buffer_size": buffer_size,
        "replay_size": 32,
        "replay_rows": 1 / 16,
        "bundle_size": 4,
    }


def _scaled(buffer_size: int, alpha: float) -> dict[str, Options]:
    """Return options for small budgets, with weights in units of the gradient.

    They are chosen by trials (docs/methods/tuning.md).
    """
    per_gradient = {"alpha_unit": "gradient"}
    of_parameters = {"weight_unit": "gradient"}
    return {
        "llr-bc": {**_economy("probabilities", buffer_size), "alpha": alpha, **per_gradient},
        "feng": {"alpha": 1.0},
        "li-inter": {"alpha": 0.1, **per_gradient},
        "li-intra": {"alpha": 0.03, **per_gradient},
        "der++": {
            **{"alpha": 0.03, "replay_rows": 1 / 16, "buffer_size": buffer_size},
            **per_gradient,
        },
        "ewc": {"weight": 2000.0, **of_parameters},
        "libog": {"weight": 2000.0, "intra_weight": 2e-5, **of_parameters},
        "clear": {"alpha": 0.2, "beta": 0.2, **of_parameters},
        "averaged-weights": {"decay": 0.97},
    }


_QUICK: Options = {"objective": "preference", "schedule": "linear", "learning_rate": 3e-4}
"""What learns well in a small budget (docs/methods/objectives.md)."""
_OF_SOLVERS: dict[str, Options] = {
    **ours_and_official({"schedule": "warmup-linear", "learning_rate": 1.2e-3}, "pomo"),
    **ours_and_official({"objective": "reinforce", "learning_rate": 1e-4}, "invit"),
}
"""The rate of POMO is chosen by trials. INViT samples one trajectory, so no other objective works;
at 3e-4 it can unlearn the CVRP. The others have no trials."""


_RATES: dict[str, Options] = {
    "tsp": {"schedule": OFFICIAL_TSP},
    "ewc": {"schedule": CONSTANT},
    "libog": {"schedule": CONSTANT},
    **ours_and_official({"schedule": CONSTANT}, "omni"),
    **ours_and_official({**INVIT_SETTINGS, "schedule": CONSTANT}, "invit"),
}
"""The official rates; LLR-BC's trainers of EWC and LiBOG make their optimizers anew."""

_PAPER = Preset(
    name="paper",
    summary="the paper's experiments as in the official code; days on a CPU",
    scales=_scales(Scale(20, 157, 64, last_batch_size=16), Scale(50, 125, 32), Scale(100, 125, 16)),
    epochs=200,
    tests=1000,
    curve_every=10,
    solver_options=models(
        6, "batch_no_track", width=128, state_k=(35, 50), action_k=15, **INVIT_OPTIONS
    ),
    method_options=_exact(),
    order=paper_order(1),
    epochs_of={**ours_and_official(10, "omni"), **ours_and_official(100, "invit")},
    settings_of=_RATES,
    needs_start=("omni", "official-omni"),
    counts_images=True,
)

PRESETS = {
    "paper": _PAPER,
    "paper-economy": attrs.evolve(
        _PAPER,
        name="paper-economy",
        summary="the paper's experiments with replay of fewer rows; days on a CPU",
        method_options={
            **_PAPER.method_options,
            "llr-bc": {**_economy("official", 1000), "alpha": 100.0},
        },
    ),
    "small": Preset(
        name="small",
        summary="the same six tasks, smaller; minutes on two cores",
        scales=_scales(Scale(10, 40, 64), Scale(20, 40, 48), Scale(40, 40, 24)),
        epochs=10,
        tests=256,
        curve_every=5,
        solver_options=models(3, "instance", width=64, state_k=(20, 30), action_k=10),
        method_options=_scaled(1000, 0.2),
        order=paper_order(1),
        settings=_QUICK,
        settings_of=_OF_SOLVERS,
    ),
    "demo": Preset(
        name="demo",
        summary="forgetting and its cure in about two minutes on two cores",
        # Rings after clusters, small after large: here fine-tuning forgets most in a short time.
        scales=_scales(Scale(10, 40, 48), Scale(20, 40, 24), Scale(20, 40, 24)),
        epochs=5,
        tests=128,
        curve_every=1,
        solver_options=models(2, "instance", width=64, state_k=(15, 20), action_k=10),
        method_options=_scaled(500, 2.0),
        order=("C", "GM", "R"),
        settings=_QUICK,
        settings_of=_OF_SOLVERS,
    ),
}


def preset(name: str) -> Preset:
    """Return a preset by name.

    Raises
    ------
    UnknownNameError
        If no preset has this name.
    """
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]
