"""The content of a buffer, compared with counting and computing by hand."""

import math
from collections import Counter

import pytest
import synthetic_runs
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import tiny_config, tiny_learn

from lifelong_co.errors import CheckpointError
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.experiments.paper.buffer import (
    Contents,
    changed_decisions,
    confidences,
    contents,
    items_of,
    papers_units,
)
from lifelong_co.replay.experience import plain_behavior


def correlation(x, y):
    """Return the correlation of a buffer with these confidences."""
    return Contents({}, torch.stack((x, y))).correlation


LEVELS = st.lists(st.floats(-10, 10), min_size=2, max_size=20)


def test_correlation_by_hand():
    """Of (1, 2, 4) and (1, 3, 2) it is 1 / sqrt(14/3 * 2) by pencil; of a constant undefined."""
    x, y = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 3.0, 2.0])
    # Deviations (-4/3, -1/3, 5/3) and (-1, 1, 0): products 4/3 - 1/3 = 1, squares 14/3 and 2.
    assert correlation(x, y) == pytest.approx(1 / math.sqrt(14 / 3 * 2))
    assert math.isnan(correlation(x, torch.ones(3)))


@given(LEVELS, st.floats(0.1, 5), st.floats(-5, 5))
def test_correlation_sees_shape_not_scale(values, scale, shift):
    """A linear change keeps it at 1, a negative one turns it to -1, or both are undefined."""
    x = torch.tensor(values, dtype=torch.float64)
    if x.std() > 1e-3:
        assert correlation(x, scale * x + shift) == pytest.approx(1)
        assert correlation(x, -scale * x + shift) == pytest.approx(-1)


def test_confidence_is_1_when_certain_and_0_when_uniform():
    """By variance as by entropy, at any number of actions; between them by hand."""
    probs = torch.tensor([[1.0, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]], dtype=torch.float64)
    variance, entropy = confidences(probs)
    # Variance of (1/2, 1/2, 0, 0) is 1/16 of at most 3/16; entropy log 2 of at most log 4.
    assert variance.tolist() == pytest.approx([1, 0, 1 / 3])
    assert entropy.tolist() == pytest.approx([1, 0, 1 / 2])


def test_units_are_counted_by_task(learned, run):
    """The counts are those of the buffer in memory, and the states those of its tensors."""
    held = learned.method.state_dict()["buffer"]["items"]
    found = contents(run, items_of(run))
    want = Counter(run.names[unit["task"]] for unit in held)
    assert found.units == want
    assert set(want) == {"U5", "U6"}
    behaviors = [plain_behavior(unit) for unit in held]
    assert found.states == sum(b.shape[0] * b.shape[1] for b in behaviors)
    parts = [confidences(behavior.double().exp()) for behavior in behaviors]
    both = torch.stack([torch.cat(column) for column in zip(*parts, strict=True)])
    assert found.correlation == pytest.approx(float(torch.corrcoef(both)[0, 1]))
    assert 0.5 < found.correlation < 1


def test_whole_solutions_count_as_units(tmp_path):
    """In the ablation -IB a unit has several steps, which all count for the correlation."""
    made = tiny_learn(tiny_config(ablation="IB", bundle_size=0, buffer_size=20), tmp_path)
    run = load_run(made.folder.path)
    found = contents(run, items_of(run))
    assert found.units == {"U5": 2, "U6": 2}  # batches of the last epoch
    assert found.states == 2 * 4 * (3 * 5 + 4 * 6)  # batches x instances x steps x starts


def test_a_run_without_a_buffer_or_checkpoint_says_so(tmp_path):
    """The first has nothing in it, the second is an error with its folder."""
    made = tiny_learn(tiny_config("fine-tuning"), tmp_path)
    assert items_of(load_run(made.folder.path)) == []
    folder = synthetic_runs.write(tmp_path / "bare", synthetic_runs.config())
    with pytest.raises(CheckpointError, match="expected a checkpoint, found none"):
        items_of(load_run(folder))


@pytest.mark.parametrize(
    "state",
    [{"buffer": {"items": [torch.ones(2)]}}, {"buffer": [torch.ones(2)]}, {"buffer": 3}, {}],
)
def test_what_a_plugin_keeps_is_no_buffer_of_experiences(state, run, monkeypatch):
    """Its method may have anything under the same names."""
    monkeypatch.setattr("lifelong_co.storage.checkpoint.latest", lambda _: (0, {"method": state}))
    assert items_of(run) == []


def test_counts_of_the_paper_are_shown_for_order_1_only(tmp_path):
    """Its numbers are for its order and its two kinds of buffer."""
    order1 = ("E", "C", "G", "U", "R", "GM")
    for options, expected in (({}, 287), ({"buffer": "balanced"}, 153)):
        of = synthetic_runs.config(distributions=order1, method_options=options)
        run = load_run(synthetic_runs.write(tmp_path / str(expected), of))
        assert papers_units(run)["GM40"] == expected
    run = load_run(synthetic_runs.write(tmp_path / "other", synthetic_runs.config()))
    assert papers_units(run) == {}
    of = synthetic_runs.config("fine-tuning", order1)
    assert papers_units(load_run(synthetic_runs.write(tmp_path / "method", of))) == {}


def test_decisions_are_kept_or_changed(run):
    """Every state of the first task with a choice is in one range; changed ones are among them."""
    items = items_of(run)
    counts = changed_decisions(run, items)
    first = [plain_behavior(item) for item in items if item["task"] == 0]
    choices = sum(int((b.isfinite().sum(dim=-1) > 1).sum()) for b in first)
    assert sum(states for states, _ in counts) == choices > 0
    assert all(0 <= changed <= states for states, changed in counts)
