"""Numbers of a step that are not finite are found and named, at once or one step late."""

import math

import pytest
import torch

from lifelong_co.tensors.finiteness import Watch, fault, loss_numbers, norms, step_numbers


def scalars(**values: float) -> dict[str, torch.Tensor]:
    """Return scalars by name."""
    return {name: torch.tensor(value) for name, value in values.items()}


def test_step_numbers_are_losses_gradients_and_parameters_in_this_order() -> None:
    """A frozen parameter has no gradient, but it is watched."""
    module = torch.nn.Linear(2, 2)
    module.weight.requires_grad_(False)
    module(torch.ones(1, 2)).sum().backward()
    numbers = step_numbers(scalars(cost=3.0, policy=1.0), module)
    assert list(numbers) == [
        "the cost of the rollout",
        "the loss term 'policy'",
        "the norm of the gradient of bias",
        "the norm of the parameter weight",
        "the norm of the parameter bias",
    ]
    assert float(numbers["the norm of the gradient of bias"]) == pytest.approx(math.sqrt(2))
    assert not any(number.requires_grad for number in numbers.values())


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_first_number_that_is_not_finite_is_named(bad: float) -> None:
    """Numbers of different types are read together."""
    mixed = {**scalars(a=1.0, b=bad), "c": torch.tensor(math.nan, dtype=torch.float64)}
    assert fault("step 3", mixed) == f"step 3: b is {bad}"
    assert fault("step 3", scalars(a=1.0, b=-1e30)) is None


def test_norm_of_tensor_with_one_bad_entry_is_not_finite() -> None:
    """The other tensors keep their finite norms."""
    found = norms("x", {"good": torch.ones(4), "bad": torch.tensor([1.0, math.nan])})
    assert float(found["x good"]) == 2.0
    assert math.isnan(float(found["x bad"]))
    assert norms("x", {}) == {}


def test_integers_have_no_norm() -> None:
    """A module may have a frozen parameter of indices; they are always finite."""
    assert list(norms("x", {"index": torch.arange(3), "w": torch.ones(1)})) == ["x w"]


def test_watch_reads_a_step_at_once_on_a_cpu() -> None:
    """Afterwards nothing is left to read."""
    watch = Watch()
    assert watch.note("step 1", scalars(a=1.0)) is None
    assert watch.note("step 2", scalars(a=math.nan)) == "step 2: a is nan"
    assert watch.rest() is None


def test_late_watch_reads_the_step_before() -> None:
    """The last step is read on request."""
    watch = Watch(late=True)
    assert watch.note("step 1", scalars(a=math.inf)) is None
    assert watch.note("step 2", scalars(a=math.nan)) == "step 1: a is inf"
    assert watch.rest() == "step 2: a is nan"
    assert watch.rest() is None


def test_losses_have_names_of_messages() -> None:
    """The training cost is not a loss term."""
    assert list(loss_numbers(scalars(cost=1.0, ewc=2.0))) == [
        "the cost of the rollout",
        "the loss term 'ewc'",
    ]
