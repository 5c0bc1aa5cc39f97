"""Every solver, ours and the official ones, fulfils the contract of `lifelong_co.testing`."""

from typing import Any

import pytest
import torch
from upstreams import official

import lifelong_co as lco
from lifelong_co.testing import check_solver

POMO: dict[str, Any] = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 8,
    "encoder_layer_num": 1,
    "ff_hidden_dim": 16,
}
INVIT: dict[str, Any] = {
    "dim_emb": 16,
    "dim_ff": 16,
    "nb_heads": 2,
    "num_state_encoder": 2,
    "action_k": 3,
    "state_k": [4, 6],
}
# Without tracked statistics, the output for an instance depends on the others in its batch.
MIXES_THE_BATCH = {"rows": False}
# Name of the case -> (solver, its options, how it is checked).
SOLVERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "pomo": ("pomo", POMO, {}),
    **{
        f"omni {norm}": ("omni", {**POMO, "norm": norm}, MIXES_THE_BATCH if mixes else {})
        for norm, mixes in (("instance", False), ("batch_no_track", True), ("rezero", False))
    },
    "invit": ("invit", INVIT, {}),
    "invit strict": ("invit", {**INVIT, "strict_capacity": True}, {}),
    "official-pomo": ("official-pomo", POMO, {}),
    "official-omni": ("official-omni", {**POMO, "norm": "instance"}, {}),
    "official-invit": ("official-invit", INVIT, {}),
}


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=official) if case.startswith("official") else case
        for case in SOLVERS
    ],
)
def test_solver_fulfils_the_contract(case, problem):
    """A solver with a small network passes every check, and so does a restored one."""
    name, options, exempt = SOLVERS[case]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        solver, other = (lco.solver(name, problem, **options) for _ in range(2))
    check_solver(solver, factory=lambda: other, **exempt)
