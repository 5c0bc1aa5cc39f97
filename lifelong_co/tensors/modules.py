"""Modules of solvers: their device, their kind of normalisation, other parameters for a call."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm

T = TypeVar("T")


class Calling(nn.Module):
    """A module around a solver's, whose forward pass is whatever is called."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, call: Callable[[], Any]) -> Any:
        """Return ``call()``."""
        return call()


def with_parameters(module: nn.Module, tensors: Mapping[str, Tensor], call: Callable[[], T]) -> T:
    """Return ``call()``, during which a module has other parameters and buffers.

    Parameters
    ----------
    module
        A solver's; as it was afterwards, even when the call raises.
    tensors
        By the names of ``module.state_dict()``; what is left out stays. Gradients reach them.
    call
        Uses the module, directly or through its solver.
    """
    named = {f"module.{name}": tensor for name, tensor in tensors.items()}
    return cast(T, functional_call(Calling(module), named, (call,)))


def device_of(module: nn.Module) -> torch.device:
    """Return the device of a module's parameters."""
    return next(module.parameters()).device


def normalises_over_batch(module: nn.Module) -> bool:
    """Tell whether a module, in the mode it is in, normalises over its batch.

    So does torch's batch normalisation in training mode, and without running statistics always; a
    layer of another kind is not recognised.
    """
    return any(
        isinstance(part, _BatchNorm) and (part.training or part.running_mean is None)
        for part in module.modules()
    )
