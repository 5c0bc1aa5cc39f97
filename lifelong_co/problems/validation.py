"""Checks of the tensors of instances, shared by the problems. Later code does not check again."""

import math

import torch
from torch import Tensor

from lifelong_co.errors import InvalidInstancesError


def fractions(name: str, value: object, shape: tuple[int | str, ...]) -> Tensor:
    """Return ``value`` as a finite floating-point tensor of the expected shape.

    The range is not checked: numbers may be below 0 or above 1.

    Parameters
    ----------
    name
        The field; errors name it.
    value
        A tensor, or anything that ``torch.as_tensor`` takes.
    shape
        Expected size of each dimension; a string means any size of at least one.

    Raises
    ------
    InvalidInstancesError
        If it is not a tensor of that shape in single or double precision, or holds NaN or infinity.
    """
    tensor = shaped(name, value, shape)
    # A finite sum proves finite numbers in a fourth of the time. Only if it is not finite, look at
    # each number: the sum of finite numbers can overflow.
    if not math.isfinite(tensor.detach().sum()):
        refuse_where(f"{name}: expected finite numbers", tensor, ~torch.isfinite(tensor))
    return tensor


def bounds(name: str, value: object, shape: tuple[int | str, ...]) -> Tensor:
    """Return ``value`` as `fractions` does, but accept infinity, which stands for no bound."""
    tensor = shaped(name, value, shape)
    wrong = torch.isnan(tensor) | (tensor == -torch.inf)
    refuse_where(f"{name}: expected numbers or infinity", tensor, wrong)
    return tensor


def refuse_where(expected: str, value: Tensor, where: Tensor, row: str = "row") -> None:
    """Raise `InvalidInstancesError` for the first True of ``where``, with its `place`.

    Parameters
    ----------
    expected
        It begins with the name of the field and a colon.
    value
        The field, ``[B, ...]``.
    where
        Bool, ``[B]`` or ``[B, ...]``.
    row
        What a row of an instance is.
    """
    if not bool(where.any()):
        return
    index = tuple(where.nonzero()[0].tolist())
    cell = index[: value.dim()]
    got = ", ".join(f"{number:g}" for number in value[cell].flatten().tolist())
    message = f"{expected}, got {got} ({place(index, row)})"
    raise InvalidInstancesError(message, expected.partition(":")[0], cell)


def place(index: tuple[int, ...], row: str = "row") -> str:
    """Return where a value is, for messages: instances and rows count from 1."""
    return f"instance {index[0] + 1}" + "".join(f", {row} {k + 1}" for k in index[1:2])


def shaped(name: str, value: object, shape: tuple[int | str, ...]) -> Tensor:
    """Return ``value`` as a floating-point tensor of the expected shape."""
    wanted = "[" + ", ".join(str(size) for size in shape) + "]"
    try:
        # A tensor stays where it is: `as_tensor` would move it to torch's default device.
        tensor = value if isinstance(value, Tensor) else torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInstancesError(
            f"{name}: expected a tensor of shape {wanted}, got {type(value).__name__} ({error})"
        ) from error
    got = list(tensor.shape)
    fits = len(got) == len(shape) and all(
        size >= 1 if isinstance(want, str) else size == want
        for size, want in zip(got, shape, strict=True)
    )
    if not fits:
        raise InvalidInstancesError(f"{name}: expected shape {wanted}, got {got}")
    if not tensor.is_floating_point():
        raise InvalidInstancesError(f"{name}: expected floating-point numbers, got {tensor.dtype}")
    if tensor.dtype not in (torch.float32, torch.float64):
        raise InvalidInstancesError(
            f"{name}: expected single or double precision, got {tensor.dtype}"
        )
    return tensor


def coordinates(name: str, value: object, batch: int | str = "B") -> Tensor:
    """Return node coordinates ``[B, n, 2]``, with ``n >= 2``; raise the errors of `fractions`."""
    tensor = fractions(name, value, (batch, "n", 2))
    if tensor.shape[1] < 2:
        raise InvalidInstancesError(f"{name}: expected at least two nodes, got {tensor.shape[1]}")
    return tensor


def same_kind(reference: tuple[str, Tensor], **others: Tensor) -> None:
    """Raise `InvalidInstancesError` for a tensor of another dtype or device than the reference."""
    name, tensor = reference
    for other, value in others.items():
        if value.dtype != tensor.dtype or value.device != tensor.device:
            raise InvalidInstancesError(
                f"{other}: expected {tensor.dtype} on {tensor.device} like {name}, "
                f"got {value.dtype} on {value.device}"
            )
