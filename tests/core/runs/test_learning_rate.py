"""The learning rate of a step; `test_learner_settings` has the schedules of tasks."""

from pathlib import Path

import attrs
import pytest
import torch
from tiny_runs import parameters, same, stopped_and_resumed, tiny_config

from lifelong_co.learner import learn
from lifelong_co.runs.learning_rate import decay, rate_factor
from lifelong_co.runs.prepare import prepare


def test_decay_multiplies_the_rate_of_each_group() -> None:
    """Two groups keep their ratio."""
    one, two = (torch.zeros(1, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.Adam([{"params": [one], "lr": 0.1}, {"params": [two], "lr": 0.4}])
    decay(optimizer, 0.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.05, 0.2]


@pytest.mark.parametrize("name", ["multi-task-batch", "multi-task-epoch"])
def test_schedule_lowers_the_rate_over_a_run_that_learns_all_tasks_at_once(
    name: str, tmp_path: Path
) -> None:
    """Of 8 steps each has an eighth of the rate less, also after a new task and after a stop."""
    config = attrs.evolve(tiny_config(name), schedule="linear")
    factors: list[float] = []
    whole = learn(
        prepare(config, tmp_path / "run"),
        on_step=lambda run, losses: factors.append(rate_factor(run)),  # noqa: ARG005
    )
    assert factors == pytest.approx([1 - step / 8 for step in range(1, 9)])
    resumed = stopped_and_resumed(config, tmp_path, after=3)
    assert same(parameters(whole), parameters(resumed))
