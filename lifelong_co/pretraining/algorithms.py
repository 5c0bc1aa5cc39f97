"""Reptile, FOMAML and MAML: each returns a gradient by which the meta-parameters are updated.

``theta`` are the meta-parameters. ``theta_k`` are the parameters after adaptation to a task: ``k``
inner steps, each on a new batch. Every batch is sampled, so ``loss`` is a random function. As in
the official code, the derivative through the inner steps treats the sampled actions as constants.

The settings follow Omni-VRP (Zhou et al. 2023; ``CVRPTrainer_meta.py``). Inner steps use Adam with
the learning rate of the outer Adam. Reptile and FOMAML start a new inner Adam for each task. MAML
starts from the moments of the outer Adam: the first step of a new Adam is ``learning_rate *
sign(g)``, whose derivative is zero almost everywhere. (The official MAML also writes the inner
steps into the outer moments; ours does not change them.) ``sgd`` is the inner step of the papers
that introduced the algorithms.
"""

from collections.abc import Callable, Iterable

import attrs
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from lifelong_co.errors import ConfigError
from lifelong_co.pretraining.inner import Inner, Moments, Parameters, Step
from lifelong_co.tensors.optimizers import SGD, Adam

Loss = Callable[[Parameters], torch.Tensor]
"""Returns the loss of the given parameters, a scalar, on a new batch of a task."""

# FOMAML and MAML multiply the meta learning rate by this in the last tenth of the iterations, as
# in the official code.
FLOOR = 0.1


def adapt(loss: Loss, theta: Parameters, step: Step, k: int, *, differentiable: bool) -> Parameters:
    """Return ``theta_k``, with a graph back to ``theta`` if differentiable, else as new leaves."""
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
    """Return the gradient of the loss at ``theta_k`` on a new batch (Finn et al. 2017, §5.2)."""
    adapted = adapt(loss, leaves(theta), inner.begin(), inner.steps, differentiable=False)
    return gradient(loss(adapted), adapted)


def maml(loss: Loss, theta: Parameters, inner: Inner, moments: Moments | None) -> Parameters:
    """Return the gradient, by ``theta``, of the loss at ``theta_k`` on a new batch.

    Source: Finn et al. 2017, algorithm 1.
    """
    start = leaves(theta)
    # This is the only attention kernel of torch that can be differentiated twice.
    with sdpa_kernel(SDPBackend.MATH):
        adapted = adapt(loss, start, inner.begin(moments), inner.steps, differentiable=True)
        return gradient(loss(adapted), start)


def gradient(
    loss: torch.Tensor, parameters: Parameters, *, create_graph: bool = False
) -> Parameters:
    """Return the gradients of a loss by parameters; zeros for parameters that it does not use.

    Raises
    ------
    ConfigError
        If the loss uses none of the parameters: the solver then computes with other parameters
        than those of its module.
    """
    found = torch.autograd.grad(
        loss, tuple(parameters.values()), create_graph=create_graph, allow_unused=True
    )
    if all(each is None for each in found):
        raise ConfigError(
            "meta-training: expected a solver that computes with the present parameters of its"
            " module, got a loss that depends on none of them"
        )
    return {
        name: torch.zeros_like(value) if each is None else each
        for (name, value), each in zip(parameters.items(), found, strict=True)
    }


def leaves(parameters: Parameters) -> Parameters:
    """Return copies with the same values, at which a new graph starts."""
    # As `nn.Parameter`, because some solvers check the type.
    return {name: nn.Parameter(value.detach()) for name, value in parameters.items()}


@attrs.frozen
class Algorithm:
    """A meta-learning algorithm: the gradient it follows, and its step size."""

    gradient: Callable[[Loss, Parameters, Inner, Moments | None], Parameters]
    """Returns the gradient of one task from loss, ``theta``, inner steps and outer moments."""
    optimizer: Callable[[Iterable[torch.Tensor], float, float], torch.optim.Optimizer]
    """Makes the outer optimizer from parameters, meta learning rate and weight decay."""
    rate: Callable[[float], float]
    """Factor of the meta learning rate after a fraction, in ``[0, 1)``, of the iterations."""
    meta_learning_rate: float
    """The default meta learning rate."""


def _adam(
    parameters: Iterable[torch.Tensor], rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    return Adam(parameters, lr=rate, weight_decay=weight_decay, fused=True)


def _plain(
    parameters: Iterable[torch.Tensor],
    rate: float,
    weight_decay: float,  # noqa: ARG001 - the inner steps decay
) -> torch.optim.Optimizer:
    return SGD(parameters, lr=rate)


def _drop(done: float) -> float:
    return FLOOR if done >= 0.9 else 1.0


def _linear(done: float) -> float:
    return 1.0 - done


ALGORITHMS = {
    # theta += epsilon (theta_k - theta); epsilon falls linearly to 0, as in Nichol et al.
    "reptile": Algorithm(reptile, _plain, _linear, 1.0),
    "fomaml": Algorithm(fomaml, _adam, _drop, 1e-4),
    "maml": Algorithm(maml, _adam, _drop, 1e-4),
}
"""Name to algorithm; the name is also the ``method`` in the run folder's configuration."""
