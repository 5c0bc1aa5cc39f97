"""Averaged weights: a moving average of the parameters becomes the solver at the end of a task.

After each step ``average <- decay average + (1 - decay) theta``. It starts as the parameters before
the task, so a task moves the solver only so far as its steps outweigh ``decay^steps``: with a
``decay`` near 1 the average also keeps a part of the solver of the tasks before. The loss is that
of fine-tuning; nothing is replayed.

Soutif-Cormerais et al. 2023 (arXiv 2306.16817) test the average and go on from the latest
parameters. Here the average is also what the next task starts from, so that the saved solver, the
tested solver and the start of the next task are one. Tests during a task, which give the forgetting
curve, are of the latest parameters.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import LearnerState, Method
from lifelong_co.tensors.modules import device_of


def averaged_weights(decay: float = 0.99) -> Method:
    """Return a method that ends each task with the average of its parameters.

    Parameters
    ----------
    decay
        The share of the average that a step keeps, at least 0 and below 1; 0 is fine-tuning. The
        average covers about ``1 / (1 - decay)`` steps.

    Raises
    ------
    ConfigError
        If ``decay`` is out of its range.
    """
    if not 0 <= decay < 1:
        raise ConfigError(
            f"method 'averaged-weights': decay: expected at least 0 and below 1, got {decay!r}"
        )
    average: dict[str, Tensor] = {}

    def before_task(learner: LearnerState) -> None:
        average.clear()
        average.update({name: x.clone() for name, x in averaged(learner.solver.module).items()})

    @torch.no_grad()
    def after_step(learner: LearnerState) -> None:
        for name, value in averaged(learner.solver.module).items():
            average[name].lerp_(value, 1 - decay)

    @torch.no_grad()
    def after_task(learner: LearnerState) -> None:
        for name, value in averaged(learner.solver.module).items():
            value.copy_(average[name])

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        device = device_of(learner.solver.module)
        average.clear()
        average.update({name: value.to(device) for name, value in state["average"].items()})

    return Method(
        before_task=before_task,
        after_step=after_step,
        after_task=after_task,
        state_dict=lambda: {"average": dict(average)},
        load_state_dict=load_state_dict,
    )


def averaged(module: nn.Module) -> dict[str, Tensor]:
    """Return what is averaged: parameters and running statistics, all floating-point tensors."""
    return {name: x for name, x in module.state_dict().items() if x.is_floating_point()}
