"""`load_official`: it takes exactly the official parameters, by their official names."""

import pytest
import torch
from goldens import PROBLEMS, golden
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import CheckpointError

both = pytest.mark.parametrize("name", PROBLEMS)


@both
def test_every_parameter_comes_from_the_official_ones(name: str) -> None:
    """As many numbers are loaded as the official network has, and all old ones are replaced."""
    stored = golden(name)
    solver = stored.solver()
    total = sum(weight.numel() for weight in stored.weights.values())
    assert sum(parameter.numel() for parameter in solver.module.parameters()) == total
    first = solver.rollout(stored.instances).cost
    with torch.no_grad():
        for parameter in solver.module.parameters():
            parameter.normal_()
    solver.load_official(stored.weights)
    assert torch.equal(solver.rollout(stored.instances).cost, first)


@both
def test_a_missing_parameter_is_named(name: str) -> None:
    """It holds for every parameter."""
    stored = golden(name)
    solver = stored.solver()
    for key in stored.weights:
        rest = {other: value for other, value in stored.weights.items() if other != key}
        with pytest.raises(CheckpointError) as caught:
            solver.load_official(rest)
        assert key in str(caught.value).split("got only")[0]


@both
def test_unexpected_parameter_is_named(name: str) -> None:
    """A parameter that the network does not have is not dropped silently."""
    stored = golden(name)
    with pytest.raises(CheckpointError, match=r"unexpected decoder\.Wq_middle\.weight"):
        stored.solver().load_official({**stored.weights, "decoder.Wq_middle.weight": torch.ones(1)})


@both
@pytest.mark.parametrize(
    "change",
    [lambda weight: weight[:-1], lambda weight: torch.cat((weight, weight)), lambda w: w[None]],
    ids=["short", "long", "deep"],
)
def test_a_wrong_shape_is_named(name: str, change) -> None:  # type: ignore[no-untyped-def]
    """For every parameter, the error has its name and both shapes."""
    stored = golden(name)
    solver = stored.solver()
    for key, value in stored.weights.items():
        wrong: Tensor = change(value)
        with pytest.raises(CheckpointError) as caught:
            solver.load_official({**stored.weights, key: wrong})
        assert str(caught.value) == (
            f"official parameter {key}: expected shape {list(value.shape)}, got {list(wrong.shape)}"
        )


def test_projections_that_only_fit_together_are_refused() -> None:
    """Query and key of wrong shapes are refused, even if all three together have the right one."""
    stored = golden("tsp")
    query, key = (stored.weights[f"encoder.layers.0.{part}.weight"] for part in ("Wq", "Wk"))
    wrong = {
        "encoder.layers.0.Wq.weight": query[:-1],
        "encoder.layers.0.Wk.weight": torch.cat((key, key[:1])),
    }
    with pytest.raises(CheckpointError, match=r"encoder\.layers\.0\.Wq\.weight"):
        stored.solver().load_official({**stored.weights, **wrong})


def test_parameters_of_the_other_problem_are_refused() -> None:
    """The CVRP's network does not accept the TSP's parameters."""
    tsp, cvrp = golden("tsp"), golden("cvrp")
    solver = lco.solver("pomo", problem="cvrp", **cvrp.options)
    with pytest.raises(CheckpointError, match="embedding_depot"):
        solver.load_official(tsp.weights)


def test_a_refused_load_changes_nothing() -> None:
    """After an error the solver has its old parameters."""
    stored = golden("tsp")
    solver = stored.solver()
    before = {key: value.clone() for key, value in solver.module.state_dict().items()}
    bad = {key: torch.zeros_like(value) for key, value in stored.weights.items()}
    with pytest.raises(CheckpointError):
        solver.load_official({**bad, "decoder.Wv.weight": torch.zeros(3)})
    after = solver.module.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)
