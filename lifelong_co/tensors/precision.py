"""The precision in which a solver learns, and a warning where torch computes less precisely."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import torch
from torch import Tensor

X = TypeVar("X")


def learning_in(precision: str, device: str) -> AbstractContextManager[object]:
    """Return the context in which training steps compute their losses.

    Parameters
    ----------
    precision
        ``float32``: no change. ``bfloat16``: torch's autocast, in which matrix products round to 8
        significant bits, also in the rollouts of a baseline. On a CPU, solvers can read this flag
        and compute their products themselves, as `pomo` does. Parameters, sums, softmax, logits,
        losses, the optimizer and tests stay in float32.
    device
        The solver's device.
    """
    if precision == "float32":
        return nullcontext()
    # No cache: captured graphs (`cuda_graphs`) would read casts of the parameters before a step.
    return torch.autocast(torch.device(device).type, torch.bfloat16, cache_enabled=False)


def each_in(precision: str, device: str, items: Iterable[X]) -> Iterator[X]:
    """Return an iterator that computes each item in the context of `learning_in`.

    The work of the caller between two items, e.g. a backward pass, is outside of the context.
    """
    source = iter(items)
    while True:
        with learning_in(precision, device):
            try:
                item = next(source)
            except StopIteration:
                return
        yield item


def in_full(device: torch.device) -> AbstractContextManager[object]:
    """Return a context inside of `learning_in` in which products are not rounded to bfloat16."""
    known = torch.amp.is_autocast_available(device.type)  # not for torch's device "meta"
    if known and torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def not_half(tensor: Tensor) -> Tensor:
    """Return a tensor in single precision if it is in bfloat16; any other tensor unchanged."""
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def warn_of_tf32(device: str, log: Callable[[str], None]) -> None:
    """Log a warning if torch rounds float32 matrix products on ``device`` to TensorFloat-32."""
    if device.startswith("cuda") and torch.get_float32_matmul_precision() != "highest":
        log(
            "matrix products round float32 to TensorFloat-32 here (torch's float32_matmul_precision"
            f" is {torch.get_float32_matmul_precision()!r}, or TORCH_ALLOW_TF32_CUBLAS_OVERRIDE is"
            " set); results differ from full float32"
        )
