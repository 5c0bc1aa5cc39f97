"""The learning rate of a step; `test_learner_settings` has the schedules of tasks."""

import json
from pathlib import Path

import attrs
import pytest
import torch
from goldens import FIXTURES, PROBLEMS
from official_rates import EPOCHS, TRAINERS
from tiny_runs import parameters, same, stopped_and_resumed, tiny_config
from upstreams import driven, llr_bc

from lifelong_co.config.resolve import resolve
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


@llr_bc
@pytest.mark.parametrize("problem", PROBLEMS)
def test_golden_rates_are_those_of_the_official_trainers(tmp_path: Path, problem: str) -> None:
    """The stored rates are no older than the pinned code."""
    assert driven("official_rates.py", problem, tmp_path) == golden(problem)


@pytest.mark.parametrize("method", [*TRAINERS, "restart"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_preset_paper_has_the_official_rate_of_each_epoch(
    problem: str, method: str, tmp_path: Path
) -> None:
    """Over two tasks; `restart` learns each task as fine-tuning learns the first one."""
    paper = resolve(preset="paper", problem=problem, method=method)
    tiny = tiny_config(method, problem)
    tasks = tuple(attrs.evolve(task, epochs=EPOCHS) for task in tiny.tasks)
    run = prepare(attrs.evolve(tiny, tasks=tasks, schedule=paper.schedule), tmp_path / "run")
    learner, rates = run.learner, []
    for learner.task in (0, 1):
        for learner.epoch in range(EPOCHS):
            rates.append(paper.learning_rate * rate_factor(run))
    if method == "restart":
        expected = spelled_out(golden(problem)["fine-tuning"])[:EPOCHS] * 2
    else:
        expected = spelled_out(golden(problem)[method])
    assert rates == pytest.approx(expected)


def golden(problem: str) -> dict[str, list[tuple[float, int]]]:
    """Read the rates of the official trainers, with the number of epochs of each."""
    found: dict[str, list[tuple[float, int]]] = json.loads(
        (FIXTURES / f"official-rates-{problem}.json").read_text()
    )
    return found


def spelled_out(runs: list[tuple[float, int]]) -> list[float]:
    """Return the rate of each epoch."""
    return [rate for rate, count in runs for _ in range(count)]
