"""Whether the numbers of a training step are finite, read without waiting for a GPU in the step."""

import math
from collections.abc import Mapping

import attrs
import torch
from torch import Tensor, nn


def step_numbers(losses: Mapping[str, Tensor], module: nn.Module) -> dict[str, Tensor]:
    """Return the numbers that show whether a step was finite, each under its name in messages.

    Parameters
    ----------
    losses
        The scalars of the step: ``cost`` and each loss term.
    module
        A module after the step of the optimizer, with the gradients of the step.

    Returns
    -------
    The losses, then the norm of each gradient and of each parameter. A norm is infinite also where
    the square of a number exceeds its type, from about 2e19 in single precision.
    """
    parameters = dict(module.named_parameters())
    gradients = {name: p.grad for name, p in parameters.items() if p.grad is not None}
    return {
        **loss_numbers(losses),
        **norms("the norm of the gradient of", gradients),
        **norms("the norm of the parameter", parameters),
    }


def loss_numbers(losses: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the losses of `step_numbers` under their names in messages."""
    return {
        "the cost of the rollout" if name == "cost" else f"the loss term {name!r}": value
        for name, value in losses.items()
    }


@torch.no_grad()
def norms(what: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the norm of each tensor, a scalar, under ``what`` and its name; integers have none."""
    tensors = {name: each for name, each in tensors.items() if each.is_floating_point()}
    found = torch._foreach_norm(list(tensors.values())) if tensors else ()
    return {f"{what} {name}": norm for name, norm in zip(tensors, found, strict=True)}


def fault(where: str, numbers: Mapping[str, Tensor]) -> str | None:
    """Return a sentence on the first number that is not finite, or None; waits for the device."""
    return _reading(where, numbers).fault()


@attrs.frozen(eq=False)
class _Reading:
    """Numbers on their way to the host."""

    where: str
    names: tuple[str, ...]
    values: Tensor
    arrived: torch.cuda.Event | None = None
    """On a GPU: when the values have been copied."""

    def fault(self) -> str | None:
        """Return a sentence on the first number that is not finite, or None."""
        if self.arrived is not None:
            self.arrived.synchronize()
        for name, value in zip(self.names, self.values.tolist(), strict=True):
            if not math.isfinite(value):
                return f"{self.where}: {name} is {value}"
        return None


def _reading(where: str, numbers: Mapping[str, Tensor]) -> _Reading:
    values = torch.stack([number.detach() for number in numbers.values()])
    if not values.is_cuda:
        return _Reading(where, tuple(numbers), values)
    with torch.cuda.device(values.device):
        copied = values.to("cpu", non_blocking=True)
        arrived = torch.cuda.Event()
        arrived.record()
    return _Reading(where, tuple(numbers), copied, arrived)


@attrs.define(eq=False)
class Watch:
    """Watches the numbers of steps; on a GPU it reads those of a step while the next one runs."""

    late: bool = False
    """Whether numbers are read one step late; on a GPU they always are."""
    _unread: _Reading | None = None

    def note(self, where: str, numbers: Mapping[str, Tensor]) -> str | None:
        """Note the scalars of a step; return a sentence on the first that is not finite, or None.

        The sentence is on this step, or on the step before if numbers are read late.
        """
        before, self._unread = self._unread, _reading(where, numbers)
        if self.late or self._unread.arrived is not None:
            return None if before is None else before.fault()
        return self.rest()

    def rest(self) -> str | None:
        """Return the sentence on the step that has not been read, or None; waits for the device."""
        last, self._unread = self._unread, None
        return None if last is None else last.fault()
