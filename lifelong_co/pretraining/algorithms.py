"""Reptile, FOMAML and MAML: each returns the gradient along which the meta-parameters move.

``theta`` are the meta-parameters, ``theta_k`` those adapted to a task by ``k`` inner steps on
batches of their own. As every batch is sampled afresh, ``loss`` is a random function, and as in the
official code the derivative through the inner steps takes the sampled actions as given.

The outer and inner settings follow Omni-VRP (Zhou et al. 2023; ``CVRPTrainer_meta.py``): inner
steps with Adam at the learning rate of the outer Adam, made afresh for each task in Reptile and
FOMAML, and going on from the outer Adam's moments in MAML, since a first step of a new Adam
is ``learning_rate * sign(g)``, whose derivative is zero almost everywhere. (The official MAML
also writes the inner steps into the outer moments; ours leaves them alone.) ``sgd`` is the inner
step of the papers that introduced the algorithms.
"""

from collections.abc import Callable, Iterable

import attrs
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from lifelong_co.errors import ConfigError
from lifelong_co.pretraining.inner import Inner, Moments, Parameters, Step

Loss = Callable[[Parameters], torch.Tensor]
"""Returns the loss of the parameters, a scalar, on a fresh batch of a task."""

FLOOR = 0.1  # the last tenth of FOMAML and MAML is at a tenth of the rate, as in the official code


def adapt(loss: Loss, theta: Parameters, step: Step, k: int, *, differentiable: bool) -> Parameters:
    """Return ``theta_k``; attached to ``theta`` when differentiable, leaves of their own if not."""
    adapted = theta
    for _ in range(k):
        gradients = gradient(loss(adapted), adapted, create_graph=differentiable)
        adapted = step(adapted, gradients)
        if not differentiable:
            adapted = leaves(adapted)
    return adapted


def reptile(loss: Loss, theta: Parameters, inner: Inner, moments: Moments | None) -> Parameters:  # noqa: ARG001
    """Return ``theta - theta_k`` (Nichol et al. 2018, algorithm 1)."""
    adapted = adapt(loss, leaves(theta), inner.begin(), inner.steps, differentiable=False)
    return {name: (theta[name] - value).detach() for name, value in adapted.items()}


def fomaml(loss: Loss, theta: Parameters, inner: Inner, moments: Moments | None) -> Parameters:  # noqa: ARG001
    """Return the gradient at ``theta_k`` of the loss on one more batch (Finn et al. 2017, §5.2)."""
    adapted = adapt(loss, leaves(theta), inner.begin(), inner.steps, differentiable=False)
    return gradient(loss(adapted), adapted)


def maml(loss: Loss, theta: Parameters, inner: Inner, moments: Moments | None) -> Parameters:
    """Return the gradient by ``theta`` of the loss at ``theta_k`` on one more batch.

    Source: Finn et al. 2017, algorithm 1.
    """
    start = leaves(theta)
    # Of torch's attention kernels only this one can be differentiated twice.
    with sdpa_kernel(SDPBackend.MATH):
        adapted = adapt(loss, start, inner.begin(moments), inner.steps, differentiable=True)
        return gradient(loss(adapted), start)


def gradient(
    loss: torch.Tensor, parameters: Parameters, *, create_graph: bool = False
) -> Parameters:
    """Return the gradients of a loss by parameters; zeros by those that it does not use.

    Raises
    ------
    ConfigError
        If it uses none of them: then the solver computes with others than its module's.
    """
    found = torch.autograd.grad(
        loss, tuple(parameters.values()), create_graph=create_graph, allow_unused=True
    )
    if all(each is None for each in found):
        raise ConfigError(
            "meta-training: expected a solver that computes with the parameters of its module as"
            " they are at the time, got a loss that depends on none of them"
        )
    return {
        name: torch.zeros_like(value) if each is None else each
        for (name, value), each in zip(parameters.items(), found, strict=True)
    }


def leaves(parameters: Parameters) -> Parameters:
    """Return the same values as the start of a new graph."""
    # Of the type that a module's own have, as some solvers ask for it.
    return {name: nn.Parameter(value.detach()) for name, value in parameters.items()}


@attrs.frozen
class Algorithm:
    """A meta-learning algorithm: what it moves along, and how far."""

    gradient: Callable[[Loss, Parameters, Inner, Moments | None], Parameters]
    optimizer: Callable[[Iterable[torch.Tensor], float, float], torch.optim.Optimizer]
    """Makes the outer optimizer from parameters, meta learning rate and weight decay."""
    rate: Callable[[float], float]
    """The part of the meta learning rate at a fraction ``[0, 1)`` of the iterations."""
    meta_learning_rate: float
    """The default."""


def _adam(
    parameters: Iterable[torch.Tensor], rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=rate, weight_decay=weight_decay, fused=True)


def _plain(
    parameters: Iterable[torch.Tensor],
    rate: float,
    weight_decay: float,  # noqa: ARG001 - the inner steps decay
) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=rate)


def _drop(done: float) -> float:
    return FLOOR if done >= 0.9 else 1.0


def _linear(done: float) -> float:
    return 1.0 - done


ALGORITHMS = {
    # theta += epsilon (theta_k - theta), with epsilon annealed as by Nichol et al.
    "reptile": Algorithm(reptile, _plain, _linear, 1.0),
    "fomaml": Algorithm(fomaml, _adam, _drop, 1e-4),
    "maml": Algorithm(maml, _adam, _drop, 1e-4),
}
"""Name to algorithm; a run folder has the name as its ``method``."""
