"""In which precision a solver learns, and that nothing computes less precisely unasked."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError

X = TypeVar("X")
PRECISIONS = ("float32", "bfloat16")


def known_precision(_: object, attribute: Any, value: str) -> None:
    """Validate an attribute: raise `ConfigError` if it is none of `PRECISIONS`."""
    if value not in PRECISIONS:
        expected = " or ".join(PRECISIONS)
        raise ConfigError(f"{attribute.name}: expected {expected}, got {value!r}")


def learning_in(precision: str, device: str) -> AbstractContextManager[object]:
    """Return the context that training steps compute their losses in.

    Parameters
    ----------
    precision
        ``bfloat16``: torch's autocast, whose products round to 8 bits, a baseline's rollouts
        included. Parameters, what layers pass on, logits, losses, optimizer and tests are float32.
    device
        Where the solver is.
    """
    if precision == "float32":
        return nullcontext()
    # No cache: captured graphs (`graphs`) would read casts of parameters that have changed since.
    return torch.autocast(torch.device(device).type, torch.bfloat16, cache_enabled=False)


def each_in(precision: str, device: str, items: Iterable[X]) -> Iterator[X]:
    """Return an iterator that computes each item in the precision of `learning_in`.

    What the caller does between two items, as going backward, is outside of it. No item is None.
    """
    source = iter(items)

    def following() -> X | None:
        with learning_in(precision, device):
            return next(source, None)

    return iter(following, None)


def not_half(tensor: Tensor) -> Tensor:
    """Return a tensor in single precision if it is in bfloat16, else as it is."""
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def warn_of_tf32(device: str, log: Callable[[str], None]) -> None:
    """Log a warning where torch is set to round products of float32 to TensorFloat-32."""
    if device.startswith("cuda") and torch.get_float32_matmul_precision() != "highest":
        log(
            "matrix products round float32 to TensorFloat-32 here (torch's float32_matmul_precision"
            f" is {torch.get_float32_matmul_precision()!r}, or TORCH_ALLOW_TF32_CUBLAS_OVERRIDE is"
            " set); results differ from full float32"
        )
