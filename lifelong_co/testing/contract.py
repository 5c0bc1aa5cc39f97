"""The error of a failed check, and functions that raise it."""

import torch
from torch import Tensor

from lifelong_co.errors import PluginError
from lifelong_co.registry import factory as factories

# Highest difference of two computations of a number: absolute, and relative for numbers above 1.
# In float32 a network sums up to about a hundred rounding errors of 1e-7.
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
COARSE = 1e-2  # half precision and bfloat16
# The error of a packed log-probability ``l`` is at most ``|l| / 2**11``. So the error of its
# probability is at most ``|l| exp(l) / 2**11``, which is highest at ``l = -1``: 1.8e-4.
HALF = 2e-4


class ContractError(AssertionError):
    """A component breaks its contract.

    Parameters
    ----------
    check
        Name of the check that failed.
    expected
        What the check expected, in words.
    came
        What it got, in words.
    """

    def __init__(self, check: str, expected: str, came: str) -> None:
        super().__init__(check, expected, came)
        self.check = check
        self.expected = expected
        self.came = came

    def __str__(self) -> str:
        return f"{self.check}: expected {self.expected}, got {self.came}"


def expect(holds: bool, check: str, expected: str, came: object) -> None:
    """Raise `ContractError` unless ``holds``."""
    if not holds:
        raise ContractError(check, expected, str(came))


def expect_members(check: str, thing: object, protocol: type) -> None:
    """Raise `ContractError` unless ``thing`` has every member of its protocol."""
    try:
        factories.check(protocol.__name__.lower(), thing, protocol)
    except PluginError as error:
        raise ContractError(check, f"every member of {protocol.__name__}", str(error)) from error


def expect_function(check: str, function: object, arguments: str) -> None:
    """Raise `ContractError` unless a function can be called with these arguments, by position."""
    expected = f"a function of {arguments}"
    expect(callable(function), check, expected, type(function).__name__)
    signature = factories.signature_of(function)
    try:
        if signature is not None:
            signature.bind(*arguments.split(", "))
    except TypeError as error:
        raise ContractError(check, expected, f"{signature} ({error})") from error


def expect_shape(check: str, what: str, tensor: object, shape: tuple[int, ...]) -> None:
    """Raise `ContractError` unless ``tensor`` is a tensor of this shape."""
    expected = f"{what} of shape {list(shape)}"
    expect(isinstance(tensor, Tensor), check, expected, type(tensor).__name__)
    assert isinstance(tensor, Tensor)  # for the type checker; the line above has checked it
    expect(tensor.shape == shape, check, expected, list(tensor.shape))


def expect_everywhere(check: str, expected: str, holds: Tensor, came: Tensor) -> None:
    """Raise `ContractError` unless the bool tensor ``holds`` is True everywhere.

    The message has the first value of ``came``, of the same shape, where ``holds`` is False.
    """
    if not bool(holds.all()):
        wrong = (~holds).nonzero()
        where = wrong[0].tolist()
        raise ContractError(
            check, expected, f"{came[tuple(where)].item():g} at {where} ({len(wrong)} such places)"
        )


def expect_close(
    check: str, what: str, came: Tensor, want: Tensor, tolerance: float | None = None
) -> None:
    """Raise `ContractError` unless two tensors agree; it has the largest deviation and its place.

    Parameters
    ----------
    check
        Name of the check.
    what
        What is compared, in words.
    came, want
        Tensors of the same shape. Equal infinities agree; NaN agrees with nothing.
    tolerance
        Highest absolute difference; relative to ``want`` where ``|want|`` is above 1. None: the
        tolerance of the dtype of ``came``. Whole numbers and truth values must be equal.
    """
    expect_shape(check, what, came, tuple(want.shape))
    if not came.is_floating_point():
        expect_everywhere(check, f"{what}, exactly", came == want, came)
        return
    allowed = TOLERANCE.get(came.dtype, COARSE) if tolerance is None else tolerance
    want = want.to(came.dtype)
    relative = (came - want).abs() / want.abs().clamp(min=1)
    deviation = relative.masked_fill(came == want, 0.0).nan_to_num(nan=torch.inf)
    if deviation.numel() and not bool(deviation.max() <= allowed):
        where = [int(i) for i in torch.unravel_index(deviation.argmax(), deviation.shape)]
        raise ContractError(
            check,
            f"{what} within {allowed:g}",
            f"a largest deviation of {deviation.max().item():.3g} at {where}: "
            f"{came[tuple(where)].item():.9g} instead of {want[tuple(where)].item():.9g}",
        )


def expect_probs(
    check: str, what: str, log_probs: Tensor, probs: Tensor, *, packed: bool = False
) -> None:
    """Raise `ContractError` unless log-probabilities have these probabilities.

    Logarithms are not compared: they differ more when they are very small. ``packed``: one of both
    was stored in half precision.
    """
    tolerance = HALF + TOLERANCE.get(log_probs.dtype, HALF) if packed else None
    expect_close(check, what, log_probs.exp(), probs, tolerance)
