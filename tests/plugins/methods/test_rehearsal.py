"""Rehearsal: what is replayed, when, and that its parts are those of other methods."""

from pathlib import Path
from typing import Any

import pytest
import torch
from lifelong_co_plugins.methods.rehearsal import one_image
from tiny_runs import BATCHES, EPOCHS, parameters, same, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co.runs.prepare import prepare

STEPS = EPOCHS * BATCHES


def test_without_weight_it_is_fine_tuning(tmp_path: Path) -> None:
    """Bit for bit."""
    run = tiny_learn(tiny_config("rehearsal", "cvrp", weight=0.0), tmp_path / "rehearsal")
    other = tiny_learn(tiny_config("fine-tuning", "cvrp"), tmp_path / "fine-tuning")
    assert same(parameters(run), parameters(other))


@pytest.mark.parametrize(("every", "expected"), [(1, [0, 1, 2, 3]), (2, [0, 2]), (3, [0, 3])])
def test_replay_comes_in_every_so_many_steps(
    tmp_path: Path, every: int, expected: list[int]
) -> None:
    """Not in the first task, which has no past."""
    steps: list[bool] = []
    config = tiny_config("rehearsal", every=every)
    tiny_learn(config, tmp_path, on_step=lambda _, losses: steps.append("replay" in losses))
    assert steps[:STEPS] == [False] * STEPS
    assert [i for i, replays in enumerate(steps[STEPS:]) if replays] == expected


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_image_has_the_costs_of_its_instance(tmp_path: Path, problem: str) -> None:
    """An image keeps all lengths; images differ between instances."""
    run = prepare(tiny_config("rehearsal", problem, sizes=(6,)), tmp_path / "run")
    batch = run.learner.draw(0, size=32)
    image = one_image(run.learner, batch)
    actions = run.learner.solver.rollout(batch).actions
    torch.testing.assert_close(
        run.learner.problem.cost(image, actions), run.learner.problem.cost(batch, actions)
    )
    moved = (image.nodes != batch.nodes).any(dim=2).any(dim=1)
    assert int(moved.sum()) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": -1.0}, "weight: expected at least 0"),
        ({"share": 0.0}, "share: expected a fraction"),
        ({"every": 0}, "every: expected at least 1"),
    ],
)
def test_number_out_of_range_is_refused(options: dict[str, Any], message: str) -> None:
    """The error names the option."""
    with pytest.raises(lco.ConfigError, match=message):
        lco.method("rehearsal", **options)
