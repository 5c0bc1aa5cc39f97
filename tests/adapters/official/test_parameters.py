"""Parameters for an official network: all faults are named."""

import copy

import pytest
import torch
from goldens import PROBLEMS, golden
from upstreams import official

from lifelong_co.errors import CheckpointError

pytestmark = official

both = pytest.mark.parametrize("problem", PROBLEMS)


@both
@pytest.mark.parametrize("name", ["pomo", "omni"])
def test_all_faults_of_parameters_are_named(problem, name):
    """Missing, unexpected and misshapen ones; then nothing is loaded."""
    stored = golden(problem, name, "rezero" if name == "omni" else "")
    solver = stored.official()
    before = copy.deepcopy(solver.module.state_dict())
    changed = {key: value + 1 for key, value in stored.weights.items()}
    del changed["decoder.Wk.weight"]
    changed["decoder.Wq_middle.weight"] = torch.ones(1)
    with pytest.raises(CheckpointError) as caught:
        solver.load_official(changed)
    assert str(caught.value).startswith(
        "official parameters: expected decoder.Wk.weight, got only decoder.Wq_last.weight"
        if problem == "cvrp"
        else "official parameters: expected decoder.Wk.weight, got only decoder.Wq_first.weight"
    )
    assert str(caught.value).endswith("; unexpected decoder.Wq_middle.weight")
    wrong = {**stored.weights, "decoder.Wk.weight": torch.zeros(3, 1)}
    with pytest.raises(CheckpointError) as caught:
        solver.load_official(wrong)
    assert str(caught.value) == (
        "official parameter decoder.Wk.weight: expected shape [32, 32], got [3, 1]"
    )
    after = solver.module.state_dict()
    assert all(torch.equal(after[key], value) for key, value in before.items())
