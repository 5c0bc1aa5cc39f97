"""How a check fails: with its name, what was expected, what came and where."""

import torch
from torch import Tensor

# By how much two computations of one number may differ, relative to its size where that is
# above 1; float32 adds up to about a hundred roundings of 1e-7 in a network.
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
COARSE = 1e-2  # half precision and bfloat16
# A packed log-probability ``l`` is off by ``|l| / 2**11`` at most, and so its probability by
# ``|l| exp(l) / 2**11``, which is largest at ``l = -1``: 1.8e-4.
HALF = 2e-4


class ContractError(AssertionError):
    """A solver that breaks its contract.

    Parameters
    ----------
    check
        Name of the function that found it.
    expected, came
        In words.
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


def expect_shape(check: str, what: str, tensor: object, shape: tuple[int, ...]) -> None:
    """Demand a tensor of a shape."""
    expected = f"{what} of shape {list(shape)}"
    expect(isinstance(tensor, Tensor), check, expected, type(tensor).__name__)
    assert isinstance(tensor, Tensor)  # tells the type checker what the line above has shown
    expect(tensor.shape == shape, check, expected, list(tensor.shape))


def expect_everywhere(check: str, expected: str, holds: Tensor, came: Tensor) -> None:
    """Demand that ``holds`` bool is True everywhere; show ``came``, of its shape, where not."""
    if not bool(holds.all()):
        wrong = (~holds).nonzero()
        where = wrong[0].tolist()
        raise ContractError(
            check, expected, f"{came[tuple(where)].item():g} at {where} ({len(wrong)} such places)"
        )


def expect_close(
    check: str, what: str, came: Tensor, want: Tensor, tolerance: float | None = None
) -> None:
    """Demand that two tensors agree; the message has the largest deviation and its place.

    Parameters
    ----------
    check
        Name of the check.
    what
        What is compared, in words.
    came, want
        Of one shape; infinities agree with themselves, NaN with nothing.
    tolerance
        Relative to ``want`` where that is above 1; by default that of ``came``'s dtype.
    """
    expect_shape(check, what, came, tuple(want.shape))
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
