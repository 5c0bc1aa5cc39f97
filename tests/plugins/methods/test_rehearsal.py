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


def test_without_weight_it_is_llr_bc(tmp_path: Path) -> None:
    """With the same hold in every step, bit for bit."""
    hold: dict[str, Any] = {"alpha": 1.0, "buffer_size": 8, "replay_size": 4}
    mine = tiny_config("rehearsal", "cvrp", weight=0.0, hold_every=1, **hold)
    shared = {"behavior": "probabilities", "replay_rows": 1 / 16, "bundle_size": 4}
    run = tiny_learn(mine, tmp_path / "rehearsal")
    other = tiny_learn(tiny_config("llr-bc", "cvrp", **hold, **shared), tmp_path / "llr-bc")
    assert same(parameters(run), parameters(other))


def test_hold_is_as_strong_when_it_is_rarer(tmp_path: Path) -> None:
    """The same first term counts twice, as it comes in every second step."""
    found = {}
    for every in (1, 2):
        config = tiny_config(
            "rehearsal", sizes=(5, 5), weight=0.0, alpha=1.0, hold_every=every, replay_size=4
        )
        losses: list[dict[str, torch.Tensor]] = []
        tiny_learn(
            config, tmp_path / f"{every}", on_step=lambda _, each, to=losses: to.append(each)
        )
        found[every] = losses[STEPS]["consolidation"].item()
    assert found[2] == pytest.approx(2 * found[1])


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


def test_nothing_is_recorded_without_a_hold(tmp_path: Path) -> None:
    """Then an empty buffer costs no time."""
    run = tiny_learn(tiny_config("rehearsal"), tmp_path)
    assert not run.method.state_dict()["hold"]["buffer"]["items"]
    assert run.method.state_dict()["memory"]["reservoirs"]


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
        ({"hold_every": 0}, "hold_every: expected at least 1"),
        ({"alpha": -1.0}, "alpha: expected at least 0"),
    ],
)
def test_number_out_of_range_is_refused(options: dict[str, Any], message: str) -> None:
    """The error names the option."""
    with pytest.raises(lco.ConfigError, match=message):
        lco.method("rehearsal", **options)
