"""The fields of a state, packed: booleans as bits, numbers of actions as small integers."""

import functools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lifelong_co.errors import ComponentError
from lifelong_co.tensors.bit_packing import pack_bits, unpack_bits


@functools.cache
def integers_for(actions: int) -> torch.dtype:
    """Return the smallest integer type that holds the number of any action."""
    kinds = (torch.int8, torch.int16, torch.int32)
    return next(kind for kind in kinds if actions <= torch.iinfo(kind).max)


def pack(tensor: Tensor, integers: torch.dtype, name: str) -> Tensor:
    """Pack booleans to bits, those of a row together, and node indices to small integers.

    A GPU does not check that integers fit, because it would wait for them; `check_problem` does.
    """
    if tensor.dtype == torch.bool:
        return pack_bits(tensor.reshape(len(tensor), -1))
    if not tensor.is_floating_point():
        if tensor.device.type == "cpu":
            require_small(tensor, integers, name)
        return tensor.to(integers)
    return tensor.clone()  # a view would keep the whole batch alive


def require_small(tensor: Tensor, integers: torch.dtype, name: str) -> None:
    """Raise `ComponentError` if a type cannot hold all numbers of a state's field."""
    limits = torch.iinfo(integers)
    for number in map(int, tensor.aminmax() if tensor.numel() else ()):
        if not limits.min <= number <= limits.max:
            raise ComponentError(
                f"state, {name}: expected integers that are numbers of actions, got {number};"
                " other numbers are floats"
            )


def unpack(tensor: Tensor, shape: Sequence[int] | None) -> Tensor:
    """Undo `pack`; ``shape`` is the shape of booleans without ``B``, None for other types."""
    if shape is not None:
        return unpack_bits(tensor, math.prod(shape)).view(len(tensor), *shape)
    return tensor if tensor.is_floating_point() else tensor.long()
