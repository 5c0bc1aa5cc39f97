"""Schedules of the learning rate, against torch's, and the change for one step."""

import pytest
import torch

from lifelong_co.tensors.schedule import CONSTANT, OFFICIAL_TSP, SCHEDULES, scaled_rate

STEPS = 7


def optimizer() -> torch.optim.Optimizer:
    """Return an optimizer with two groups of different rates."""
    groups = [{"params": [torch.zeros(1, requires_grad=True)], "lr": lr} for lr in (0.5, 0.25)]
    return torch.optim.SGD(groups)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("cosine", lambda it: torch.optim.lr_scheduler.CosineAnnealingLR(it, STEPS)),
        ("linear", lambda it: torch.optim.lr_scheduler.LinearLR(it, 1.0, 0.0, STEPS)),
        (CONSTANT, lambda it: torch.optim.lr_scheduler.ConstantLR(it, 1.0)),
    ],
)
def test_schedules_are_those_of_torch(name, theirs):
    """After all steps the rate is 0, except for the constant one."""
    it = optimizer()
    scheduler = theirs(it)
    for step in range(STEPS + 1):
        assert scheduler.get_last_lr()[0] == pytest.approx(0.5 * SCHEDULES[name](step / STEPS, 0))
        it.step()
        scheduler.step()


@pytest.mark.parametrize(
    ("share", "factor"), [(0, 0.1), (0.05, 0.55), (0.1, 1), (0.55, 0.5), (0.91, 0.1), (1, 0)]
)
def test_warm_up_rises_in_a_tenth_of_the_steps_and_then_falls(share, factor):
    """It is continuous, begins with a tenth and ends with 0; so even a task of one step learns."""
    assert SCHEDULES["warmup-linear"](share, 3) == pytest.approx(factor)


def test_official_rate_falls_as_its_scheduler_says():
    """`tests/core/runs/test_learning_rate.py` has what the trainers do with it."""
    it = optimizer()
    scheduler = torch.optim.lr_scheduler.MultiStepLR(it, milestones=[191], gamma=0.1)
    for epoch in range(200):  # it steps before each epoch
        it.step()
        scheduler.step()
        assert scheduler.get_last_lr()[0] == pytest.approx(0.5 * SCHEDULES[OFFICIAL_TSP](0, epoch))


def test_rate_is_scaled_in_the_block_and_restored_after_it():
    """Each group keeps its rate, also if the block raises."""
    it = optimizer()
    with pytest.raises(KeyError), scaled_rate(it, 0.1):  # noqa: PT012
        assert [group["lr"] for group in it.param_groups] == [0.05, 0.025]
        raise KeyError
    assert [group["lr"] for group in it.param_groups] == [0.5, 0.25]
