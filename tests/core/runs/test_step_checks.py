"""Loss terms and steps that a run refuses."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import torch
from tiny_runs import tiny_config

import lifelong_co as lco
from lifelong_co.errors import ComponentError, NotFiniteError
from lifelong_co.runs.data_parallel import Ranks
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.runs.step_checks import (
    checked_batch,
    checked_term,
    checked_terms,
    place,
    positive_cost,
    require_batches,
    require_finite_step,
    require_rest_finite,
)
from lifelong_co.tensors.finiteness import Watch

SCALAR = torch.ones((), requires_grad=True)


def run(folder: Path) -> Run:
    """Return a run in the second step of its first epoch."""
    made = prepare(tiny_config("fine-tuning"), folder / "run")
    made.learner.batch = 1
    return made


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (("x", torch.ones(())), "loss term 'x': expected a scalar .* got one without gradients"),
        (("x", torch.ones(1, requires_grad=True)), r"got a tensor of shape \[1\]"),
        (("x", 3.0), "got 3.0"),
        (SCALAR, r"expected loss terms \(name, scalar\), got tensor"),
        (("seconds", SCALAR), "expected a loss term with another name than cost, policy, seconds"),
        ((SCALAR, "x"), r"expected loss terms \(name, scalar\), got \(tensor"),
    ],
)
def test_wrong_loss_term_is_refused(item: object, expected: str) -> None:
    """The message names the method."""
    config = tiny_config("fine-tuning")
    with pytest.raises(ComponentError, match="^method 'fine-tuning'.*" + expected):
        checked_term(config, item)
    assert checked_term(config, ("x", SCALAR)) == ("x", SCALAR)


@pytest.mark.parametrize("terms", [None, 3.0])
def test_terms_that_are_no_list_are_refused(terms: object) -> None:
    """A plain function that returns None yields nothing."""
    config = tiny_config("fine-tuning")
    with pytest.raises(ComponentError, match=r"^method 'fine-tuning': expected loss terms .* got"):
        checked_terms(config, terms)
    assert list(checked_terms(config, [None])) == [None]
    with pytest.raises(ComponentError, match=r"expected loss terms .* got None"):
        checked_term(config, None)


def test_what_is_no_batch_is_refused() -> None:
    """A forgotten ``return`` is named."""
    config, tsp = tiny_config("fine-tuning"), lco.problem("tsp")
    for given in (None, torch.rand(2, 5, 2)):
        with pytest.raises(
            ComponentError, match=r"^method 'fine-tuning', instances: expected TSPInstances, got"
        ):
            checked_batch(config, tsp, given)
    instances = tsp.instances(nodes=torch.rand(2, 5, 2))
    assert checked_batch(config, tsp, instances) is instances


@pytest.mark.parametrize("batches", [0, None, 2.5])
def test_epoch_without_a_batch_is_refused(batches: object) -> None:
    """The message names the method."""
    with pytest.raises(ComponentError, match=r"^method 'fine-tuning', batches: expected .* got"):
        require_batches(tiny_config("fine-tuning"), batches)
    require_batches(tiny_config("fine-tuning"), np.int64(1))


def test_cost_of_zero_is_refused() -> None:
    """A gap to it is not defined."""
    assert positive_cost(tiny_config("fine-tuning"), 0, 1e-9) == 1e-9
    for cost in (0.0, -3.0):
        with pytest.raises(
            ComponentError, match=r"^problem 'tsp', task U6: expected .* above 0, got"
        ):
            positive_cost(tiny_config("fine-tuning"), 1, cost)


def test_step_is_named_from_one(tmp_path: Path) -> None:
    """Task, epoch and step."""
    assert place(run(tmp_path)) == "task U5, epoch 1 of 2, step 2 of 2"


@pytest.mark.parametrize("late", [False, True])
def test_step_that_is_not_finite_ends_the_run(tmp_path: Path, late: bool) -> None:
    """Late reading ends it at the next step or before a save."""
    made = run(tmp_path)
    made.watch = Watch(late=late)
    made.steps = 1
    bad: dict[str, Any] = {"policy": torch.tensor(torch.nan)}
    message = (
        "step 2 of 2: the loss term 'policy' is nan, expected .* a lower learning_rate .now 0.01"
    )

    def both() -> None:
        require_finite_step(made, bad)
        require_rest_finite(made)

    with pytest.raises(NotFiniteError, match=message):
        both()
    require_rest_finite(made)


def test_fault_of_another_process_ends_the_run(tmp_path: Path) -> None:
    """All processes stop at the same step."""

    @attrs.frozen
    class Two(Ranks):
        def any(self, mine: bool) -> bool:
            assert not mine
            return True

    made = run(tmp_path)
    made.ranks = Two()
    with pytest.raises(NotFiniteError, match="a number in another process is not finite"):
        require_finite_step(made, {"policy": torch.tensor(1.0)})


@pytest.mark.parametrize(
    ("name", "objective", "checks"),
    [
        ("policy", "reinforce", "solver 'pomo' with .*check_solver$"),
        ("policy", "mine", "solver 'pomo' with .*, and objective 'mine' with .*check_objective$"),
        ("cost", "mine", "solver 'pomo' with .*, and problem 'tsp' with .*check_problem$"),
        ("mine", "mine", "start a new run with other loss terms or a lower learning_rate"),
    ],
)
def test_first_step_that_is_not_finite_is_the_fault_of_a_component(
    name: str, objective: str, checks: str, tmp_path: Path
) -> None:
    """A lower learning rate would change nothing: no step has been taken."""
    made = run(tmp_path)
    made.config = attrs.evolve(made.config, objective=objective)
    made.steps = 0
    made.watch = Watch(late=False)
    with pytest.raises(NotFiniteError, match=checks):
        require_finite_step(made, {name: torch.tensor(torch.nan)})
