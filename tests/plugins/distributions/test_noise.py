"""Random numbers for a whole batch: their ranges and dtype, and their stream."""

import pytest
import torch
from lifelong_co_plugins.distributions.noise import Noise
from torch import Tensor


def draws(seed: int) -> dict[str, Tensor]:
    """Return 4,000 numbers of each kind."""
    noise = Noise(torch.Generator().manual_seed(seed))
    return {
        "uniform": noise.uniform(4, 1000),
        "between": noise.uniform(4, 1000, low=2.0, high=5.0),
        "normal": noise.normal(4, 1000),
        "exponential": noise.exponential(4, 1000, rate=2.0),
        "integers": noise.integers(1, 3, 4, 1000),
        "coin": noise.coin(4, 1000),
    }


@pytest.mark.parametrize(
    ("kind", "least", "most", "mean"),
    [
        ("uniform", 0, 1, 0.5),
        ("between", 2, 5, 3.5),
        ("normal", -10, 10, 0.0),
        ("exponential", 0, 20, 0.5),
        ("integers", 1, 3, 2.0),
        ("coin", 0, 1, 0.5),
    ],
)
def test_draws_have_range_and_mean(kind: str, least: float, most: float, mean: float) -> None:
    """Both bounds of whole numbers occur; a mean is within five standard errors of 1."""
    found = draws(0)[kind]
    assert found.shape == (4, 1000)
    assert found.dtype == (torch.bool if kind == "coin" else torch.float32)
    numbers = found.double()
    assert least <= numbers.min() <= numbers.max() <= most
    assert numbers.mean().item() == pytest.approx(mean, abs=5 / 4000**0.5)
    if kind == "integers":
        assert set(numbers.unique().tolist()) == {1, 2, 3}


def test_seed_decides_every_draw() -> None:
    """The same seed gives the same numbers of each kind, another seed gives others."""
    first, again, other = draws(1), draws(1), draws(2)
    for kind, found in first.items():
        assert torch.equal(found, again[kind])
        assert not torch.equal(found, other[kind])


def test_numbers_are_on_the_device_of_the_generator() -> None:
    """Without a generator they are on the CPU."""
    assert Noise().device == Noise(torch.Generator()).device == torch.device("cpu")
