"""Modules of solvers: their device and normalisation, checks, other parameters for a call."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from lifelong_co.errors import ComponentError, InvalidInstancesError
from lifelong_co.tensors import records

T = TypeVar("T")


class Calling(nn.Module):
    """A wrapper of a solver's module, whose forward pass runs a given function."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, call: Callable[[], Any]) -> Any:
        """Return ``call()``."""
        return call()


def with_parameters(module: nn.Module, tensors: Mapping[str, Tensor], call: Callable[[], T]) -> T:
    """Return ``call()``, and give a module other parameters and buffers while it runs.

    Parameters
    ----------
    module
        A solver's module. Afterwards it has its old tensors again, even if the call raises.
    tensors
        The other tensors, by the names of ``module.state_dict()``; the module keeps those that are
        left out. Gradients flow into the given ones.
    call
        A function that uses the module, directly or through its solver.
    """
    # Of tied parameters only one name: torch refuses two tensors for one parameter.
    tied: dict[int, str] = {}
    named = {f"module.{name}": tensor for name, tensor in tensors.items()}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        if name in tensors and tied.setdefault(id(parameter), name) != name:
            del named[f"module.{name}"]
    return cast(T, functional_call(Calling(module), named, (call,)))


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module in evaluation mode for a while, so that no running statistics change."""
    was_training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(was_training)


def device_of(module: nn.Module) -> torch.device:
    """Return the device of a module's parameters."""
    return next(module.parameters()).device


def normalises_over_batch(module: nn.Module) -> bool:
    """Return whether a module, in its present mode, normalises over its batch.

    Torch's batch normalisation does so in training mode; without running statistics it always
    does. Other layers are not recognised.
    """
    return any(
        isinstance(part, _BatchNorm) and (part.training or part.running_mean is None)
        for part in module.modules()
    )


def require_single(name: str, module: nn.Module) -> None:
    """Raise `ComponentError` if a trainable parameter of a solver is not in float32."""
    for key, each in module.named_parameters():
        if each.requires_grad and each.dtype != torch.float32:
            raise ComponentError(
                f"solver {name!r}: expected parameters in float32, got {key} in {each.dtype}"
            )


def require_precision(module: nn.Module, instances: Any) -> None:
    """Raise `InvalidInstancesError` if instances have another precision than a module.

    A module in half precision can have no instances: `ComponentError`.
    """
    own = next((each.dtype for each in module.parameters() if each.is_floating_point()), None)
    if own not in (None, torch.float32, torch.float64):
        raise ComponentError(
            f"solver: expected parameters in single or double precision, got {own}; for bfloat16"
            " set precision=bfloat16 instead"
        )
    for field, tensor in records.tensors(instances).items():
        if own is not None and tensor.is_floating_point() and tensor.dtype != own:
            raise InvalidInstancesError(
                f"{field}: expected {own} like the solver's parameters, got {tensor.dtype}"
            )


def require_learnable(name: str, module: nn.Module) -> None:
    """Refuse a module that a run cannot train.

    Raises
    ------
    ComponentError
        If it has no trainable parameters, lazy ones, ones in another precision than float32, or
        active dropout.
    """
    parameters = dict(module.named_parameters())
    label = f"solver {name!r}: expected"
    if not any(each.requires_grad for each in parameters.values()):
        raise ComponentError(f"{label} a module with trainable parameters, got none")
    for key, each in parameters.items():
        if isinstance(each, nn.parameter.UninitializedParameter):
            raise ComponentError(
                f"{label} initialised parameters, got the lazy {key}: give its layer all sizes"
            )
    require_single(name, module)
    for key, part in module.named_modules():
        if (p := _dropout(part)) > 0:
            raise ComponentError(
                f"{label} no dropout, got {key or type(part).__name__} with p = {p:g}: it draws"
                " from torch's global stream, so no run is repeatable"
            )


def _dropout(part: nn.Module) -> float:
    """Return the probability with which a layer drops a number."""
    if isinstance(part, _DropoutNd):
        return part.p
    if isinstance(part, nn.MultiheadAttention):  # it has no layer for it
        return float(part.dropout)
    if isinstance(part, nn.RNNBase) and part.num_layers > 1:  # it drops between its layers
        return part.dropout
    return 0.0
