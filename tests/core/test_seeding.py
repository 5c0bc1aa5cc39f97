"""Independent random streams from one seed."""

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lifelong_co.errors import ConfigError
from lifelong_co.seeding import generator, python_seed, restore

PURPOSES = ["weights", "instances", "actions", "replay", "", "replay ", "Ü"]
seeds = st.integers(0, 2**70)


@given(seeds, st.text())
def test_same_seed_and_purpose_give_the_same_stream(seed: int, purpose: str) -> None:
    """A stream depends only on seed and purpose."""
    first, second = (torch.rand(5, generator=generator(seed, purpose)) for _ in range(2))
    assert torch.equal(first, second)


@given(seeds, st.text())
def test_seeds_fit_every_library(seed: int, purpose: str) -> None:
    """A derived seed is a plain int in [0, 2**63)."""
    derived = python_seed(seed, purpose)
    assert type(derived) is int
    assert 0 <= derived < 2**63


def test_streams_differ_by_seed_and_by_purpose() -> None:
    """Every pair of seed and purpose has a different stream."""
    streams = {
        tuple(torch.rand(4, generator=generator(seed, purpose)).tolist())
        for seed in (0, 1, 2, 2**32, 2**32 + 1, 2**64)
        for purpose in PURPOSES
    }
    assert len(streams) == 6 * len(PURPOSES)


def test_neighboring_streams_do_not_correlate() -> None:
    """Streams of 20 neighboring seeds and four purposes look independent (total level 0.001)."""
    draws = np.stack(
        [
            torch.randn(2_000, generator=generator(seed, purpose), dtype=torch.float64).numpy()
            for seed in range(20)
            for purpose in PURPOSES[:4]
        ]
    )
    correlations = np.corrcoef(draws)[np.triu_indices(len(draws), k=1)]
    # Each is normal with standard deviation 1 / sqrt(2000); Bonferroni over all pairs.
    bound = stats.norm.isf(0.0005 / len(correlations)) / np.sqrt(2_000)
    assert float(np.abs(correlations).max()) < bound


def test_generator_does_not_change_the_global_stream() -> None:
    """Making and using a generator leaves torch's global stream unchanged."""
    before = torch.get_rng_state()
    torch.rand(3, generator=generator(0, "weights"))
    assert torch.equal(torch.get_rng_state(), before)


def test_generator_is_on_the_given_device() -> None:
    """The device is the CPU by default; it can be a name or an object."""
    assert generator(0, "weights").device == torch.device("cpu")
    assert generator(0, "weights", torch.device("cpu")).device == torch.device("cpu")


def test_seeds_never_change() -> None:
    """These values hold in every process, version and machine: published runs depend on them."""
    assert python_seed(0, "weights") == 4409511417195144873
    assert python_seed(1, "instances") == 2540395448705171803


def test_negative_seeds_are_refused() -> None:
    """A seed below 0 is refused, and the message names it."""
    with pytest.raises(ConfigError, match=r"seed: expected at least 0, got -1"):
        generator(-1, "weights")


def test_restored_stream_goes_on_where_it_stood() -> None:
    """Also from a state whose tuples are lists, as in a checkpoint."""
    stream = random.Random(3)
    stream.gauss(0, 1)  # keeps a second number for the next call
    version, internal, gauss = stream.getstate()
    other = random.Random(4)
    restore(other, [version, list(internal), gauss])
    assert [other.gauss(0, 1), other.random()] == [stream.gauss(0, 1), stream.random()]
