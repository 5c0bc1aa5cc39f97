"""Rows replayed by weight: how often each is drawn, and that it means the loss of all of them."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.experience_replay.importance_sampling import by_weight
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from tiny_runs import tiny_config, tiny_learn
from torch import Tensor

weights = st.lists(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 10.0)), min_size=1, max_size=8),
    min_size=1,
    max_size=5,
)
starts = st.floats(0.0, 1.0, exclude_max=True)


def spread(given: list[list[float]], share: float, start: float) -> tuple[Tensor, Tensor, int]:
    """Return the weights of all rows, their factors (0: not drawn), and how many were drawn."""
    units = [torch.tensor(unit, dtype=torch.double) for unit in given]
    factors = [torch.zeros_like(unit) for unit in units]
    for factor, drawn in zip(factors, by_weight(units, share, start), strict=True):
        if drawn is not None:
            rows, values = drawn
            assert len(rows) > 0
            assert bool((rows.diff() > 0).all())
            factor[rows] = values
    return torch.cat(units), torch.cat(factors), max(1, round(share * sum(map(len, units))))


@given(weights, st.floats(0.01, 1.0), starts)
def test_each_row_is_drawn_in_proportion_to_its_weight(
    given: list[list[float]], share: float, start: float
) -> None:
    """Counts are right to within one, rows of weight 0 are never drawn, and weights add up."""
    each, factors, count = spread(given, share, start)
    if not bool(each.any()):
        each = torch.ones_like(each)
    due = count * each / each.sum()
    times = factors * due
    assert float(times.sum()) == pytest.approx(count)
    assert bool(((times - times.round()).abs() < 1e-6).all())
    assert bool(((times - due).abs() < 1 + 1e-6).all())
    assert float((factors * each).sum()) == pytest.approx(float(each.sum()))


@given(weights, st.floats(0.05, 1.0))
def test_mean_over_draws_is_the_loss_of_all_rows(given: list[list[float]], share: float) -> None:
    """Over all first positions, the factor of each row with a weight averages to 1."""
    grid = 2000
    found = [spread(given, share, (i + 0.5) / grid) for i in range(0, grid, 10)]
    each, mean = found[0][0], torch.stack([factors for _, factors, _ in found]).mean(dim=0)
    count = found[0][2]
    if not bool(each.any()):
        each = torch.ones_like(each)
    # A row of n expected draws is drawn floor(n) or ceil(n) times; the grid is off by one point.
    slack = each.sum() / (count * each.clamp(min=1e-300)) * (2 / len(found))
    assert bool(((mean - 1).abs() <= slack + 1e-9)[each > 0].all())


def test_rows_of_large_weight_are_replayed_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run replays the given number of rows, with weights that sum to 1."""
    seen: list[tuple[int, int, float]] = []
    original = Weights.replayed

    def spied(self: Weights, learner: Any, bundles: Any) -> Any:
        found = original(self, learner, bundles)
        total = sum(step.rows for bundle in bundles for step in bundle.steps)
        drawn = sum(each.count for each in found.bundles)
        if bundles:
            seen.append((total, drawn, float(found.weights.sum())))
        return found

    monkeypatch.setattr(Weights, "replayed", spied)
    tiny_learn(tiny_config(behavior="probabilities", replay_size=5, replay_rows=0.25), tmp_path)
    assert len(seen) > 2
    for total, drawn, weight in seen:
        assert 1 <= drawn <= math.ceil(total / 4)
        assert weight == pytest.approx(1, abs=1e-4)
