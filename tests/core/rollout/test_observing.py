"""An observer that writes into what it sees is refused."""

import pytest
import torch

import lifelong_co as lco
from lifelong_co.errors import ComponentError
from lifelong_co.rollout.observing import changed_by, read_only


def seen():
    """Return a state of the TSP and log-probabilities."""
    tsp = lco.problem("tsp")
    instances = tsp.instances(nodes=torch.rand(2, 5, 2))
    return tsp.reset(instances, 3), torch.rand(2, 3, 5).log_softmax(2)


def test_reader_keeps_what_it_gets():
    """It may keep the tensors."""
    state, log_probs = seen()
    kept = []
    read_only(lambda *shown: kept.append(shown), "method 'mine'")(state, log_probs)
    assert kept[0][0] is state
    assert kept[0][1] is log_probs


def test_what_is_changed_is_named():
    """Also where NaN was, which is unlike itself."""
    state, log_probs = seen()
    log_probs[0, 0, 0] = torch.nan
    assert changed_by(lambda *_: None, state, log_probs) == []
    with pytest.raises(ComponentError, match=r"^method 'mine': expected an observer that only"):
        read_only(lambda state, _: state.visited.logical_not_(), "method 'mine'")(state, log_probs)
    assert changed_by(lambda s, _: s.visited.logical_not_(), state, log_probs) == ["state.visited"]
    assert changed_by(lambda _, p: p.fill_(0), state, log_probs) == ["log_probs"]
