"""Averaged weights: the average of each task's steps becomes the solver."""

from pathlib import Path

import pytest
import torch
from tiny_runs import parameters, same, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run

DECAY = 0.7


def test_average_is_the_recurrence_over_the_steps_of_a_task(tmp_path: Path) -> None:
    """It begins with the parameters before the task, and the solver ends with it."""
    seen: list[dict[str, torch.Tensor]] = []
    config = tiny_config("averaged-weights", sizes=(5,), decay=DECAY)
    start = parameters(prepare(config, tmp_path / "start"))

    def watch(run: Run, losses: dict[str, torch.Tensor]) -> None:  # noqa: ARG001
        seen.append(parameters(run))

    run = tiny_learn(config, tmp_path, on_step=watch)
    expected = start
    for step in seen:
        expected = {name: DECAY * expected[name] + (1 - DECAY) * step[name] for name in step}
    for name, value in parameters(run).items():
        torch.testing.assert_close(value, expected[name])
    assert not same(parameters(run), seen[-1])


def test_without_decay_it_is_fine_tuning(tmp_path: Path) -> None:
    """The average is then the latest parameters, bit for bit."""
    averaged = tiny_learn(tiny_config("averaged-weights", decay=0.0), tmp_path / "averaged")
    plain = tiny_learn(tiny_config("fine-tuning"), tmp_path / "plain")
    assert same(parameters(averaged), parameters(plain))
    assert averaged.costs == plain.costs


@pytest.mark.parametrize("decay", [1.0, -0.1, float("nan")])
def test_decay_out_of_range_is_refused(decay: float) -> None:
    """Also NaN."""
    with pytest.raises(lco.ConfigError, match="decay: expected at least 0 and below 1"):
        lco.method("averaged-weights", decay=decay)
