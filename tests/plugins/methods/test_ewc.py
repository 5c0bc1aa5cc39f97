"""EWC: the quadratic term and its anchors, which LiBOG shares."""

from pathlib import Path
from typing import Any

import pytest
import torch
from lifelong_co_plugins.methods.ewc import Anchors
from tiny_runs import begun, nudge, parameters, same, tiny_config, tiny_learn
from torch import nn

from lifelong_co.learner import train_batch
from lifelong_co.protocols import Method
from lifelong_co.runs.run import Run
from lifelong_co.runs.trained_solver import load_solver


def toy_anchors() -> tuple[Anchors, nn.Module]:
    """Return two past tasks of a parameter ``x = (1, 2)``, with round numbers."""
    anchors = Anchors(1)
    for at, fisher in (((0.0, 2.0), (3.0, 5.0)), ((2.0, 5.0), (0.5, 1.0))):
        pair = {"parameters": {"x": torch.tensor(at)}, "fisher": {"x": torch.tensor(fisher)}}
        anchors.past.append(pair)
    return anchors, nn.ParameterDict({"x": nn.Parameter(torch.tensor([1.0, 2.0]))})


def test_penalty_and_its_gradient_by_hand() -> None:
    """``3·1² + 5·0² + 0.5·1² + 1·3² = 12.5``; gradient ``(6 - 1, 0 - 6)``."""
    anchors, module = toy_anchors()
    penalty = anchors.penalty(module)
    penalty.backward()
    assert penalty.item() == 12.5
    (value,) = module.parameters()
    assert value.grad is not None
    assert value.grad.tolist() == [5.0, -6.0]


def terms(run: Run, method: Method) -> dict[str, float]:
    """Return the sum of a method's terms, by name, on a new rollout that it observes."""
    learner = run.learner
    instances = learner.draw(learner.task)
    rollout = learner.solver.rollout(
        instances, "sample", generator=run.actions, observe=method.observer(learner, instances)
    )
    found: dict[str, float] = {}
    for name, term in method.loss_terms(learner, rollout):
        found[name] = found.get(name, 0.0) + term.item()
    return found


@pytest.mark.parametrize(
    ("method", "options", "times"),
    [
        ("ewc", {"weight": 10.0}, 10.0),
        ("ewc", {"weight": 0.5}, 0.5),
        ("libog", {"weight": 10.0}, 10.0),
        ("libog", {"weight": 10.0, "variant": "official"}, 11.0),
    ],
)
def test_quadratic_term_has_its_weight(
    tmp_path: Path, method: str, options: dict[str, Any], times: float
) -> None:
    """It counts ``weight`` times, or ``1 + weight`` in the official LiBOG; not in a first task."""
    run = begun(tmp_path, tiny_config(method, sizes=(5, 6), fisher_batches=2, **options))
    assert "ewc" not in terms(run, run.method)
    run.learner.task = 1
    run.method.before_task(run.learner)
    past = run.method.state_dict()
    (anchor,) = past["past"] if method == "ewc" else past["anchors"]["past"]
    nudge(run.learner.solver.module, 0.1)
    named = run.learner.solver.module.state_dict()
    want = sum(
        float((fisher.double() * (named[name] - anchor["parameters"][name]).double() ** 2).sum())
        for name, fisher in anchor["fisher"].items()
    )
    assert want > 1e-9
    assert terms(run, run.method)["ewc"] == pytest.approx(times * want, rel=1e-4)


@pytest.mark.parametrize("method", ["ewc", "libog"])
def test_each_past_task_has_one_anchor(tmp_path: Path, method: str) -> None:
    """It is made when the next task begins, from the parameters then."""
    config = tiny_config(method, sizes=(5, 6, 5), fisher_batches=1)
    run = tiny_learn(config, tmp_path)
    state = run.method.state_dict()
    past = state["past"] if method == "ewc" else state["anchors"]["past"]
    first, second = (each["parameters"] for each in past)
    assert not same(first, second)
    learned = load_solver(tmp_path / "run", after=2).module.state_dict()
    assert same(second, {name: learned[name] for name in second})


def test_weights_of_zero_give_fine_tuning(tmp_path: Path) -> None:
    """It holds to the bit, for EWC and LiBOG."""
    plain = tiny_learn(tiny_config("fine-tuning"), tmp_path / "plain")
    for method, options in (
        ("ewc", {"weight": 0.0}),
        ("libog", {"weight": 0.0, "intra_weight": 0.0}),
    ):
        config = tiny_config(method, fisher_batches=1, **options)
        assert same(parameters(tiny_learn(config, tmp_path / method)), parameters(plain))


def test_steps_reduce_the_quadratic_term(tmp_path: Path) -> None:
    """With a very large weight, steps lead back to the end of the first task."""
    run = begun(tmp_path, tiny_config("ewc", sizes=(5, 6), weight=1e9, fisher_batches=2))
    run.learner.task = 1
    run.method.before_task(run.learner)
    nudge(run.learner.solver.module, 0.05)
    penalties = [float(train_batch(run)["ewc"]) for _ in range(6)]
    assert penalties[-1] < penalties[0]
