"""`load_official` of INViT: other parameters are refused, and nothing changes."""

import pytest
import torch
from goldens import PROBLEMS, invit_golden
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import CheckpointError

both = pytest.mark.parametrize("name", PROBLEMS)


@both
def test_other_parameters_are_refused(name: str) -> None:
    """Missing, unexpected and misshapen parameters are named, and nothing changes."""
    stored = invit_golden(name)
    solver = stored.solver()
    before = {key: value.clone() for key, value in solver.module.state_dict().items()}
    key = "state_encoders.1.encoder.MHA_layers.0.w_ks.weight"
    changes: list[tuple[dict[str, Tensor], str]] = [
        ({k: v for k, v in stored.weights.items() if k != key}, f"expected {key}"),
        ({**stored.weights, "WQ.bias": torch.zeros(1)}, "unexpected WQ.bias"),
        ({**stored.weights, key: torch.zeros(3)}, rf"{key}: expected shape \[32, 32\], got \[3\]"),
    ]
    for weights, message in changes:
        with pytest.raises(CheckpointError, match=message):
            solver.load_official(weights)
    after = solver.module.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_parameters_of_the_other_problem_are_refused() -> None:
    """The CVRP's network does not accept the TSP's parameters."""
    tsp, cvrp = invit_golden("tsp"), invit_golden("cvrp")
    with pytest.raises(CheckpointError, match="input_emb"):
        lco.solver("invit", problem="cvrp", **cvrp.options).load_official(tsp.weights)
