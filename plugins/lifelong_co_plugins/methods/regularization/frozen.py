"""Frozen copies of a solver's parameters, to run it with (`lifelong_co.functional`)."""

from collections.abc import Mapping

from torch import Tensor, nn


def frozen_copy(module: nn.Module) -> dict[str, Tensor]:
    """Return a copy of a module's ``state_dict`` that is learned no more.

    Parameters stay `torch.nn.Parameter`: networks may ask for them as such.
    """
    return as_frozen(module, module.state_dict())


def as_frozen(module: nn.Module, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return a copy as `frozen_copy` does, of tensors as a checkpoint gives them back."""
    device = next(module.parameters()).device
    names = {name for name, _ in module.named_parameters()}
    copied = {name: tensor.detach().clone().to(device) for name, tensor in tensors.items()}
    return {
        name: nn.Parameter(tensor, requires_grad=False) if name in names else tensor
        for name, tensor in copied.items()
    }
