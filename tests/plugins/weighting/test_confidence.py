"""The weightings: cases by hand, extremes, and the paper's formulas."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import stats

import lifelong_co as lco
from lifelong_co.replay.checked import checked_weighting

NAMES = ("variance", "entropy", "top2-margin", "uniform")
CONFIDENCE = NAMES[:3]  # the weightings that depend on the behavior

all_of_them = pytest.mark.parametrize("name", NAMES)
of_confidence = pytest.mark.parametrize("name", CONFIDENCE)
sizes = st.integers(2, 101)


@st.composite
def distributions(draw: st.DrawFn) -> np.ndarray:
    """Draw behaviors ``[2, 3, A]`` with infeasible actions, float32 or float64."""
    A = draw(st.integers(2, 12))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    raw = draw(npst.arrays(np.int64, (2, 3, A), elements=st.integers(0, 1000))).astype(dtype)
    raw[raw.sum(axis=2) == 0, 0] = 1
    probs: np.ndarray = raw / raw.sum(axis=2, keepdims=True)
    return probs


@pytest.mark.parametrize(
    ("name", "probs", "want"),
    [
        # Mean 1/4, variance 1/16; a certain decision has 3/16.
        ("variance", [0.5, 0.5, 0.0, 0.0], 2 / 3),
        # Mean 1/3: variance ((1/6)^2 + 1/6^2 + 0) / 3 = 1/54; a certain decision has 2/9.
        ("variance", [1 / 2, 1 / 3, 1 / 6], 1 - (1 / 54) / (2 / 9)),
        ("entropy", [0.5, 0.5, 0.0, 0.0], 1 / 2),  # log 2 / log 4
        ("entropy", [0.5, 0.25, 0.125, 0.125], 7 / 8),  # 1.75 bits of 2
        ("top2-margin", [0.5, 0.3, 0.2], 0.8),
        ("top2-margin", [0.1, 0.2, 0.7], 0.5),
        ("top2-margin", [0.5, 0.5, 0.0, 0.0], 1.0),
        ("uniform", [0.9, 0.1], 1.0),
    ],
)
def test_weights_by_hand(name: str, probs: list[float], want: float) -> None:
    """Cases computed with pencil and paper."""
    got = lco.weighting(name)(torch.tensor(probs, dtype=torch.float64))
    assert got.shape == ()
    assert float(got) == pytest.approx(want, abs=1e-12)


@all_of_them
@given(probs=distributions())
def test_weights_are_in_the_unit_interval(name: str, probs: np.ndarray) -> None:
    """There is one weight per state, with the dtype of the behavior."""
    weights = lco.weighting(name)(torch.from_numpy(probs))
    assert weights.shape == (2, 3)
    assert weights.dtype == torch.from_numpy(probs).dtype
    assert (weights >= 0).all()
    assert (weights <= 1).all()


@all_of_them
@given(A=sizes, dtype=st.sampled_from([torch.float32, torch.float64]))
def test_uniform_behavior_has_weight_one(name: str, A: int, dtype: torch.dtype) -> None:
    """It holds for any number of actions."""
    weight = lco.weighting(name)(torch.full((A,), 1 / A, dtype=dtype))
    assert float(weight) == pytest.approx(1, abs=1e-6)


@of_confidence
@given(A=sizes, dtype=st.sampled_from([torch.float32, torch.float64]), data=st.data())
def test_certain_behavior_has_weight_zero(
    name: str, A: int, dtype: torch.dtype, data: st.DataObject
) -> None:
    """It holds for any action; rounding makes no weight negative."""
    sure = data.draw(st.integers(0, A - 1))
    weight = float(lco.weighting(name)(torch.eye(A, dtype=dtype)[sure]))
    assert 0 <= weight < 1e-6


@of_confidence
@given(probs=distributions(), seed=st.integers(0, 999))
def test_weights_do_not_depend_on_the_order_of_actions(
    name: str, probs: np.ndarray, seed: int
) -> None:
    """A permutation of the actions changes no weight."""
    order = np.random.default_rng(seed).permutation(probs.shape[2])
    weigh = lco.weighting(name)
    torch.testing.assert_close(
        weigh(torch.from_numpy(probs[:, :, order])),
        weigh(torch.from_numpy(probs)),
        rtol=0,
        atol=2e-6,
    )


@given(probs=distributions())
def test_variance_and_entropy_agree_with_numpy_and_scipy(probs: np.ndarray) -> None:
    """Variance over that of certainty, and entropy over the largest."""
    A = probs.shape[2]
    p = torch.from_numpy(probs.astype(np.float64))
    p = p / p.sum(dim=2, keepdim=True)
    variance = 1 - np.var(p.numpy(), axis=2) / np.var(np.eye(A)[0])
    entropy = stats.entropy(p.numpy(), axis=2) / np.log(A)
    np.testing.assert_allclose(lco.weighting("variance")(p), variance, atol=1e-9)
    np.testing.assert_allclose(lco.weighting("entropy")(p), entropy, atol=1e-9)


@pytest.mark.parametrize("name", ["variance", "entropy", "top2-margin", "uniform"])
def test_only_action_has_a_weight(name: str) -> None:
    """No variance and no entropy are possible; the division by them gives no NaN."""
    weight = float(lco.weighting(name)(torch.ones(1, dtype=torch.float64)))
    assert 0 <= weight <= 1


@pytest.mark.parametrize(
    ("name", "want"),
    [
        # Variance 1/16; a certain decision has 3/16.
        ("variance", 1 - (1 / 16) / (3 / 16 + 0.01)),
        ("entropy", -math.log(0.51) / (math.log(4) + 0.01)),
    ],
)
def test_guard_is_added_to_the_divisor_and_in_logarithms(name: str, want: float) -> None:
    """By hand, with a guard large enough to see."""
    probs = torch.tensor([0.5, 0.5, 0.0, 0.0], dtype=torch.float64)
    assert float(checked_weighting(name, 0.01)(probs)) == pytest.approx(want, abs=1e-12)


@of_confidence
def test_weights_fall_with_confidence(name: str) -> None:
    """On the way from uniform to certain, the weight falls at every step."""
    shares = torch.linspace(0, 1, 11, dtype=torch.float64)[:, None]
    probs = shares * torch.eye(5, dtype=torch.float64)[2] + (1 - shares) / 5
    weights = lco.weighting(name)(probs)
    assert (weights.diff() < 0).all()


@pytest.mark.parametrize("name", ["variance", "entropy", "top2-margin"])
def test_weights_under_autocast_are_not_rounded_to_bfloat16(name: str) -> None:
    """Very certain decisions differ by less than bfloat16 could show."""
    certain = 1 - torch.tensor([1e-3, 1e-4, 1e-5])
    probs = torch.stack([certain, 1 - certain, torch.zeros(3)], dim=1)
    weigh = lco.weighting(name)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = weigh(probs)
    torch.testing.assert_close(found, weigh(probs), rtol=0, atol=0)
    assert (found[:-1] > found[1:]).all()
