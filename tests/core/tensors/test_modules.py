"""Modules: other parameters for a call, their device, normalisation, and what is refused."""

import pytest
import torch
from torch import nn

from lifelong_co.errors import ComponentError
from lifelong_co.tensors.modules import (
    device_of,
    normalises_over_batch,
    require_learnable,
    with_parameters,
)


def test_module_has_other_tensors_only_during_the_call() -> None:
    """Given tensors replace old ones, others stay, gradients flow into the given ones."""
    module = nn.Linear(1, 1)
    old = {name: value.clone() for name, value in module.state_dict().items()}
    weight = torch.full((1, 1), 3.0, requires_grad=True)
    one = torch.ones(1, 1)
    found = with_parameters(module, {"weight": weight}, lambda: module(one))
    torch.testing.assert_close(found, 3.0 + old["bias"][None])
    found.sum().backward()
    assert weight.grad is not None
    assert weight.grad.item() == 1
    assert module.weight.grad is None
    assert all(torch.equal(value, old[name]) for name, value in module.state_dict().items())


def test_module_has_its_tensors_again_after_an_error() -> None:
    """An error inside the call goes on to the caller."""
    module = nn.Linear(1, 1)
    old = module.weight

    def fail() -> None:
        assert module.weight is not old
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        with_parameters(module, {"weight": torch.zeros(1, 1)}, fail)
    assert module.weight is old


def test_buffers_can_be_given_too() -> None:
    """The running mean of a batch norm is replaced for one call in evaluation mode."""
    module = nn.BatchNorm1d(1).eval()
    shifted = {"running_mean": torch.tensor([2.0])}
    found = with_parameters(module, shifted, lambda: module(torch.full((1, 1), 2.0)))
    assert found.item() == 0


@pytest.mark.parametrize(
    ("norm", "training", "expected"),
    [
        (nn.BatchNorm1d(2), True, True),
        (nn.BatchNorm1d(2), False, False),
        (nn.BatchNorm1d(2, track_running_stats=False), False, True),
        (nn.InstanceNorm1d(2), True, False),
        (nn.LayerNorm(2), True, False),
    ],
)
def test_only_batch_statistics_count_as_normalising_over_the_batch(
    norm: nn.Module, training: bool, expected: bool
) -> None:
    """Batch norm does so in training, and always if it keeps no running statistics."""
    module = nn.Sequential(nn.Linear(2, 2), norm).train(training)
    assert normalises_over_batch(module) is expected


def test_device_is_that_of_the_parameters() -> None:
    """A module made on the meta device is there."""
    assert device_of(nn.Linear(1, 1, device="meta")) == torch.device("meta")


def test_tied_parameters_are_given_once() -> None:
    """Both layers have the first tensor, and its gradient is that of both."""
    module = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    module[1].weight = module[0].weight
    given = {name: torch.full((1, 1), 3.0, requires_grad=True) for name in module.state_dict()}
    assert len(given) == 2
    found = with_parameters(module, given, lambda: module(torch.ones(1, 1)))
    assert found.item() == 9
    found.backward()
    assert given["0.weight"].grad is not None
    assert given["0.weight"].grad.item() == 6


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.ReLU(), "trainable parameters, got none"),
        (nn.Linear(1, 1).requires_grad_(False), "trainable parameters, got none"),
        (nn.LazyLinear(1), "initialised parameters, got the lazy weight"),
        (nn.Linear(1, 1).double(), "float32, got weight in torch.float64"),
        (nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.1)), "no dropout, got 1 with p = 0.1"),
        (nn.MultiheadAttention(4, 2, dropout=0.2), "got MultiheadAttention with p = 0.2"),
        (nn.Sequential(nn.LSTM(1, 1, 2, dropout=0.3)), "no dropout, got 0 with p = 0.3"),
    ],
)
def test_module_that_a_run_cannot_train_is_refused(module: nn.Module, message: str) -> None:
    """The message names the solver and the part."""
    with pytest.raises(ComponentError, match=f"solver 'mine': expected .*{message}"):
        require_learnable("mine", module)


def test_module_that_a_run_can_train_is_accepted() -> None:
    """Also with frozen parameters and a dropout that drops nothing."""
    module = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False), nn.Dropout(0.0))
    require_learnable("mine", module)
    require_learnable("mine", nn.MultiheadAttention(4, 2))
    with pytest.warns(UserWarning, match="dropout"):
        single = nn.LSTM(1, 1, 1, dropout=0.3)  # it would drop between its layers
    require_learnable("mine", single)


def test_tied_parameter_can_be_given_by_either_name() -> None:
    """The second name alone stands for both."""
    module = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    module[1].weight = module[0].weight
    given = {"1.weight": torch.full((1, 1), 3.0)}
    assert with_parameters(module, given, lambda: module(torch.ones(1, 1))).item() == 9
