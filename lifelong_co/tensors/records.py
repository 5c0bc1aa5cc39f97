"""Records: frozen attrs classes whose fields are tensors that share their first dimension.

Instances, states and experiences are records. So moving, slicing and joining them is written once
and works for a third-party problem too. An optional field is None by default, and its metadata give
under `ABSENT` the value that None stands for.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs
import torch
from torch import Tensor

R = TypeVar("R")

ABSENT = "absent"
"""Key of a field's metadata: the value in every row where the field is None."""

LENGTH = "length"
"""Key of a field's metadata: true if the field is in the unit of the coordinates, which scales."""


def tensors(record: object) -> dict[str, Tensor]:
    """Return the fields of a record that are not None, by name, in the order of definition."""
    fields = attrs.fields(type(record))  # type: ignore[arg-type]
    named = ((field.name, getattr(record, field.name)) for field in fields)
    return {name: tensor for name, tensor in named if tensor is not None}


def transform(record: R, change: Callable[[Tensor], Tensor]) -> R:
    """Return a record of the same type with ``change`` applied to every tensor."""
    build: Any = type(record)
    return build(**{name: change(value) for name, value in tensors(record).items()})  # type: ignore[no-any-return]


def rows(record: object) -> int:
    """Return the length ``B`` of the first dimension, which all tensors share."""
    return next(iter(tensors(record).values())).shape[0]


def select(record: R, index: Tensor | slice) -> R:
    """Return the rows that ``index`` picks: long ``[b]``, bool ``[B]`` or a slice."""
    return transform(record, lambda tensor: tensor[index])


def to(record: R, device: torch.device | str) -> R:
    """Return the record on ``device``."""
    return transform(record, lambda tensor: tensor.to(device))


def concatenate(records: Sequence[R], dim: int = 0) -> R:
    """Join records of one type along a dimension, by default their rows; the others must agree.

    Where a field is None in some of the records only, it gets the value under `ABSENT` there.
    """
    if len(records) == 1:
        return records[0]
    build: Any = type(records[0])
    joined = {}
    for field in attrs.fields(build):
        parts = [getattr(record, field.name) for record in records]
        model = next((part for part in parts if part is not None), None)
        if model is not None:
            joined[field.name] = torch.cat(
                [
                    _filled(model, record, dim, field.metadata[ABSENT]) if part is None else part
                    for record, part in zip(records, parts, strict=True)
                ],
                dim,
            )
    return build(**joined)  # type: ignore[no-any-return]


def _filled(model: Tensor, record: object, dim: int, value: float) -> Tensor:
    """Return ``value`` in the shape of a field that a record lacks."""
    shape = list(model.shape)
    shape[dim] = next(iter(tensors(record).values())).shape[dim]
    return model.new_full(shape, value)


def changed(before: object, after: object) -> list[str]:
    """Return the names of the fields of a record that differ from a copy made before."""
    now = tensors(after)
    return [name for name, tensor in tensors(before).items() if not same(tensor, now[name])]


def same(first: Tensor, second: Tensor) -> bool:
    """Return whether two tensors of one shape have the same values; NaN is the same as NaN."""
    both_nan = (first != first) & (second != second)
    return torch.equal(first, second) or bool(((first == second) | both_nan).all())


def device(record: object) -> torch.device:
    """Return the device of the record's tensors."""
    return next(iter(tensors(record).values())).device
