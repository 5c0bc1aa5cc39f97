"""Weights that come with the package, with a tiny network in place of a trained one."""

import json

import pytest
import torch
from lifelong_co_adapters import shipped

from lifelong_co import registry
from lifelong_co.errors import CheckpointError, ConfigError

OPTIONS = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 8,
    "encoder_layer_num": 1,
    "ff_hidden_dim": 16,
}
TASKS = [{"name": "U20", "size": 20}, {"name": "E50", "size": 50}]


@pytest.fixture
def written(tmp_path):
    """Return a folder of weights for the TSP, and the solver in it."""
    solver = registry.solver("pomo", "tsp", **OPTIONS)
    shipped.write(solver, {"solver": "pomo", "solver_options": OPTIONS, "tasks": TASKS}, tmp_path)
    return tmp_path, solver


def test_weights_are_read_as_written(written):
    """The solver has the same parameters and is in evaluation mode."""
    folder, solver = written
    found = shipped.load("tsp", folder=folder)
    assert shipped.problems(folder) == ["tsp"]
    assert (found.largest, found.card["problem"]) == (50, "tsp")
    assert not found.solver.module.training
    for name, value in solver.module.state_dict().items():
        assert torch.equal(value, found.solver.module.state_dict()[name])


def test_problem_without_weights_is_refused(written):
    """The error says what is shipped, and what to do."""
    with pytest.raises(ConfigError, match=r"for cvrp \(shipped: tsp\).*give a run folder"):
        shipped.load("cvrp", folder=written[0])


@pytest.mark.parametrize("damage", ["flip", "card", "option"])
def test_damaged_weights_are_refused(damage, written):
    """A changed byte, a card that is no JSON, and options that do not fit."""
    place = written[0] / "tsp"
    if damage == "flip":
        content = bytearray((place / shipped.PARAMETERS).read_bytes())
        content[-1] ^= 1
        (place / shipped.PARAMETERS).write_bytes(content)
    elif damage == "card":
        (place / shipped.CARD).write_text("{")
    else:
        card = json.loads((place / shipped.CARD).read_text())
        card["solver_options"]["embedding_dim"] = 32
        (place / shipped.CARD).write_text(json.dumps(card))
    with pytest.raises(CheckpointError, match="hash" if damage == "flip" else "are damaged"):
        shipped.load("tsp", folder=written[0])


def test_shipped_weights_of_this_version_fit():
    """Each one loads, and has a card with what a reader needs; it is better than the rule."""
    assert shipped.problems() == ["cvrp", "mtvrp", "tsp"]
    for problem in shipped.problems():
        card = shipped.load(problem).card
        assert {"seed", "tasks", "costs", "sha256", "objective", "learning_rate"} <= set(card)
        assert len(card["tested"]) == 18
        assert all(test["cost"] < test["nearest_neighbor"] for test in card["tested"])
