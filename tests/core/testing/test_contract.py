"""How a check fails: what its message says, and what counts as close."""

import pytest
import torch

from lifelong_co import testing
from lifelong_co.testing.contract import expect_close, expect_everywhere, expect_shape


def test_largest_deviation_is_shown():
    """A message has the largest deviation, its place and both numbers."""
    came, want = torch.zeros(2, 3), torch.zeros(2, 3)
    came[1, 2], came[0, 1] = 0.25, 0.125
    with pytest.raises(testing.ContractError, match=r"0\.25 at \[1, 2\]: 0\.25 instead of 0"):
        testing.contract.expect_close("check_x", "zeros", came, want)


def test_error_has_its_parts():
    """The check, what was expected and what came can be read from the error."""
    with pytest.raises(testing.ContractError) as caught:
        expect_shape("check_x", "probs", torch.zeros(2, 3), (2, 4))
    assert (caught.value.check, caught.value.expected) == ("check_x", "probs of shape [2, 4]")
    assert str(caught.value) == "check_x: expected probs of shape [2, 4], got [2, 3]"


def test_value_that_is_no_tensor_is_refused():
    """The message has its type."""
    with pytest.raises(testing.ContractError, match=r"probs of shape \[1\], got list"):
        expect_shape("check_x", "probs", [1.0], (1,))


def test_first_wrong_place_is_shown():
    """The message has the value there and the number of such places."""
    came = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    with pytest.raises(testing.ContractError, match=r"2 at \[0, 1\] \(2 such places\)"):
        expect_everywhere("check_x", "zeros", came == 0, came)


@pytest.mark.parametrize(
    ("dtype", "off", "close"),
    [
        (torch.float32, 9e-6, True),
        (torch.float32, 2e-5, False),
        (torch.float64, 9e-11, True),
        (torch.float64, 2e-10, False),
    ],
)
def test_tolerance_follows_the_dtype(dtype, off, close):
    """It is relative above 1; infinities agree with themselves, NaN with nothing."""
    for size in (1.0, 1000.0):
        want = torch.tensor([size, -torch.inf], dtype=dtype)
        came = torch.tensor([size * (1 + off), -torch.inf], dtype=dtype)
        if close:
            expect_close("check_x", "numbers", came, want)
        else:
            with pytest.raises(testing.ContractError, match="largest deviation"):
                expect_close("check_x", "numbers", came, want)
    nan = torch.tensor([torch.nan])
    with pytest.raises(testing.ContractError):
        expect_close("check_x", "numbers", nan, nan)


@pytest.mark.parametrize("values", [[True, False], [2**30, 1]])
def test_what_is_not_real_is_equal(values):
    """No tolerance is taken for it."""
    want = torch.tensor(values)
    expect_close("check_x", "field", want.clone(), want)
    with pytest.raises(testing.ContractError, match=r"at \[1\] \(1 such places\)"):
        expect_close("check_x", "field", want.index_fill(0, torch.tensor(1), 3), want)
