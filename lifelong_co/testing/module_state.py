"""Checks that a solver's behavior follows from its ``state_dict``, and from nothing else."""

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lifelong_co.protocols import Solver
from lifelong_co.testing.behavior import answers
from lifelong_co.testing.contract import expect, expect_close
from lifelong_co.testing.samples import mode, observed_rollout

SMALL = 0.01
"""The standard deviation of the noise that `check_parameters` adds to each parameter."""


@torch.no_grad()
def check_parameters(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that probabilities follow the present parameters, not those of an earlier call.

    A solver that prepares its parameters once, e.g. for faster tests, does not learn there.
    """
    module = solver.module
    before = copy.deepcopy(module.state_dict())
    first = probabilities(solver, instances, seed)
    try:
        noise = torch.Generator().manual_seed(seed)
        for parameter in module.parameters():
            if parameter.is_floating_point():
                drawn = torch.randn(parameter.shape, generator=noise).to(parameter)
                parameter.add_(SMALL * drawn)
        changed = probabilities(solver, instances, seed)
    finally:
        module.load_state_dict(before)
    same = all(map(torch.equal, first, changed))
    expected = "other probs [B, S, A] after the parameters have changed"
    expect(not same, "check_parameters", expected, "the same, as if a copy was in use")


@torch.no_grad()
def check_buffers(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that a rollout in training mode changes no buffer that the ``state_dict`` lacks.

    Such a buffer is lost when a run is resumed or its solver is loaded.
    """
    with mode(solver.module, training=True):
        observed_rollout(solver, instances, "sample", seed)  # may make caches
        before = transient_buffers(solver.module)
        observed_rollout(solver, instances, "sample", seed)
        changed = changed_buffers(solver.module, before)
    came = f"a change of {changed}, registered with persistent=False"
    expect(not changed, "check_buffers", "changes only of buffers in the state_dict", came)


@torch.no_grad()
def check_restored(solver: Solver, other: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that another solver behaves the same after it has loaded the ``state_dict``.

    Parameters
    ----------
    other
        A solver with the same options and other parameters. The check replaces its parameters
        with those of ``solver``.
    """
    probabilities(other, instances, seed)  # what it prepares here must not stay
    other.module.load_state_dict(solver.module.state_dict())
    what = "the same probs [B, S, A] of a solver restored from the state_dict"
    pairs = (probabilities(each, instances, seed) for each in (other, solver))
    for came, expected in zip(*pairs, strict=True):
        expect_close("check_restored", what, came, expected)


def probabilities(solver: Solver, instances: Any, seed: int) -> list[Tensor]:
    """Return the probabilities in each state of a random solution, in evaluation mode."""
    return [log_probs.exp() for _, log_probs in answers(solver, instances, seed)]


def transient_buffers(module: nn.Module) -> dict[str, Tensor]:
    """Return copies of the buffers that are not in a module's ``state_dict``."""
    kept = module.state_dict().keys()
    return {name: t.clone() for name, t in module.named_buffers() if name not in kept}


def changed_buffers(module: nn.Module, before: Mapping[str, Tensor]) -> str:
    """Return the names of `transient_buffers` with other values than before; empty if none has.

    Those of another shape are caches, which may grow.
    """
    now = transient_buffers(module)
    return ", ".join(
        name
        for name, value in before.items()
        if name in now
        and now[name].shape == value.shape
        and not torch.equal(now[name].nan_to_num(), value.nan_to_num())  # NaN is unlike itself
    )
