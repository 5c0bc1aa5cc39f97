"""Records: frozen attrs classes whose fields are tensors that share their first dimension.

Instances, states and experiences are records, so that moving, slicing and joining them is written
once and works for a third party's problem too.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs
import torch
from torch import Tensor

R = TypeVar("R")


def tensors(record: object) -> dict[str, Tensor]:
    """Return the fields of a record by name, in the order of definition."""
    fields = attrs.fields(type(record))  # type: ignore[arg-type]
    return {field.name: getattr(record, field.name) for field in fields}


def transform(record: R, change: Callable[[Tensor], Tensor]) -> R:
    """Return a record of the same type with ``change`` applied to every tensor."""
    build: Any = type(record)
    return build(**{name: change(value) for name, value in tensors(record).items()})  # type: ignore[no-any-return]


def rows(record: object) -> int:
    """Return the length ``B`` of the shared first dimension."""
    return next(iter(tensors(record).values())).shape[0]


def select(record: R, index: Tensor | slice) -> R:
    """Return the rows that ``index`` picks: long ``[b]``, bool ``[B]`` or a slice."""
    return transform(record, lambda tensor: tensor[index])


def to(record: R, device: torch.device | str) -> R:
    """Return the record on ``device``."""
    return transform(record, lambda tensor: tensor.to(device))


def concatenate(records: Sequence[R]) -> R:
    """Join records of one type, whose other dimensions agree, along the first dimension."""
    if len(records) == 1:
        return records[0]
    build: Any = type(records[0])
    columns = [tensors(record) for record in records]
    joined = {name: torch.cat([column[name] for column in columns]) for name in columns[0]}
    return build(**joined)  # type: ignore[no-any-return]


def device(record: object) -> torch.device:
    """Return the device that the record's tensors live on."""
    return next(iter(tensors(record).values())).device
