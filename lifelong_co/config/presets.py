"""Presets: everything a run needs, at three scales.

``paper`` has the paper's sizes and budgets (§4 and appendix); ``small`` and ``demo`` are smaller.
"""

from collections.abc import Sequence
from typing import Any

import attrs

from lifelong_co.config.solver_options import (
    INVIT_OPTIONS,
    INVIT_SETTINGS,
    models,
    ours_and_official,
)
from lifelong_co.errors import UnknownNameError
from lifelong_co.problems.images import IMAGES
from lifelong_co.storage.toml import structure
from lifelong_co.tasks.orders import Part
from lifelong_co.tasks.task import Task, order

Options = dict[str, Any]


@attrs.frozen
class Scale:
    """Size and budget of the tasks that have one of the paper's three problem sizes."""

    size: int
    """Number of nodes ``n``."""
    batches: int
    """Batches per epoch."""
    batch_size: int
    """Instances per batch."""
    last_batch_size: int | None = None
    """Instances of the last batch of an epoch; None: ``batch_size``."""


@attrs.frozen(kw_only=True)
class Preset:
    """Sizes, budgets, models, settings and method options that belong together."""

    name: str
    summary: str
    solver: str = "pomo"
    """The solver of a run that does not name one."""
    problem: str = "cvrp"
    """The problem of a run that does not name one."""
    method: str = "llr-bc"
    """The method of a run that does not name one."""
    scales: dict[str, Scale]
    """Distribution to scale."""
    epochs: int
    """Epochs of each task."""
    tests: int
    """Test instances of each task."""
    curve_every: int
    """Epochs between two points of the forgetting curve."""
    solver_options: dict[str, Options]
    """Solver to its options."""
    method_options: dict[str, Options]
    """Method to its options."""
    order: tuple[str, ...] = ()
    """The distributions to learn, in this order, when the user gives no order."""
    epochs_of: dict[str, int] = attrs.field(factory=dict)
    """Solver to epochs of each task, if they differ from `epochs`."""
    settings: Options = attrs.field(factory=dict)
    """Settings of `config.Config` that differ from its defaults."""
    settings_of: dict[str, Options] = attrs.field(factory=dict)
    """Solver to settings that it needs instead."""
    needs_start: tuple[str, ...] = ()
    """The solvers that start with the parameters of another run (``start_from``)."""
    counts_images: bool = False
    """Whether `Scale.batch_size` counts images if a run trains on images, as in INViT's code."""

    def tasks(self, parts: Sequence[Part], solver: str, images: bool = False) -> tuple[Task, ...]:
        """Return one task for each part of an order, at this preset's scales.

        Parameters
        ----------
        parts
            Distributions, or tables with fields of `Task`; the scale of the distribution gives the
            fields that a table lacks.
        solver
            Its name.
        images
            Whether the run trains on the images of each instance.

        Raises
        ------
        UnknownNameError
            If the preset has no scale for a distribution.
        ConfigError
            If a table lacks a field that no scale gives, or has an unknown or invalid one.
        """
        each = IMAGES if images and self.counts_images else 1
        tasks = []
        for number, part in enumerate(parts, start=1):
            given = {"distribution": part} if isinstance(part, str) else dict(part)
            name = str(given.get("distribution", ""))
            budget: dict[str, Any] = {"epochs": self.epochs_of.get(solver, self.epochs)}
            if name in self.scales:
                scale = self.scales[name]
                last = scale.last_batch_size and scale.last_batch_size // each
                batch = {"batch_size": scale.batch_size // each, "last_batch_size": last}
                budget |= {"size": scale.size, "batches": scale.batches, **batch}
            elif not {"size", "batches", "batch_size"} <= given.keys():
                raise UnknownNameError(f"distribution of preset {self.name!r}", name, self.scales)
            tasks.append(structure({**budget, **given}, Task, f"order, task {number}"))
        return tuple(tasks)


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
        "li-inter": {"alpha": 0.01, **per_gradient},
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
"""What learns best in a small budget (docs/methods/objectives.md)."""
_INVIT = ours_and_official({"objective": "reinforce", "learning_rate": 1e-4}, "invit")
"""INViT samples one trajectory: no other objective works. At 3e-4 it can unlearn the CVRP."""


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
    order=order(1),
    epochs_of={**ours_and_official(10, "omni"), **ours_and_official(100, "invit")},
    settings_of=ours_and_official(INVIT_SETTINGS, "invit"),
    needs_start=("omni", "official-omni"),
    counts_images=True,
)

PRESETS = {
    "paper": _PAPER,
    "paper-economy": attrs.evolve(
        _PAPER,
        name="paper-economy",
        summary="the paper's experiments with replay at a quarter of the cost; days on a CPU",
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
        order=order(1),
        settings=_QUICK,
        settings_of=_INVIT,
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
        settings_of=_INVIT,
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
