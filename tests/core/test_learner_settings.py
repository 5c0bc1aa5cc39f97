"""The loop with settings of a run: images of instances, schedules, the settings of INViT."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from tiny_invit import TINY
from tiny_runs import (
    BATCHES,
    fine_tuning,
    parameters,
    same,
    stopped_and_resumed,
    tiny_config,
    tiny_learn,
)
from torch import Tensor

from lifelong_co.config.solver_options import INVIT_OPTIONS, INVIT_SETTINGS
from lifelong_co.learner import learn, train_batch
from lifelong_co.runs.prepare import prepare
from lifelong_co.tensors.optimizers import Adam


def test_training_on_images_takes_eight_times_the_batch(tmp_path: Path) -> None:
    """The method's batch is augmented before it is solved."""
    sizes = []
    for images in (False, True):
        run = fine_tuning(tmp_path / str(images), images=images)
        policy = run.objective.loss

        def noting(instances: Any, rollout: Any, policy: Any = policy) -> Tensor:
            sizes.append((len(instances.nodes), len(rollout.cost)))
            loss: Tensor = policy(instances, rollout)
            return loss

        run.objective = attrs.evolve(run.objective, loss=noting)
        train_batch(run)
    assert sizes == [(4, 4), (32, 32)]


def test_random_images_are_drawn_with_the_instances(tmp_path: Path) -> None:
    """They follow from the seed, differ from batch to batch, and begin with the instances."""
    batches: list[list[Tensor]] = []
    for symmetries in ("square", "random", "random"):
        run = fine_tuning(
            tmp_path / str(len(batches)), images=True, symmetries=symmetries, augment=True
        )
        seen: list[Tensor] = []
        policy = run.objective.loss

        def noting(
            instances: Any, rollout: Any, policy: Any = policy, seen: list[Tensor] = seen
        ) -> Tensor:
            seen.append(instances.nodes)
            loss: Tensor = policy(instances, rollout)
            return loss

        run.objective = attrs.evolve(run.objective, loss=noting)
        learn(run)
        batches.append(seen)
    square, random, again = batches
    assert all(torch.equal(*pair) for pair in zip(random, again, strict=True))
    assert torch.equal(square[0][:4], random[0][:4])
    assert not torch.equal(square[0][4:], random[0][4:])
    legs = [(nodes[:, 1] - nodes[:, 0]).norm(dim=1) for nodes in random]
    for leg in legs:  # an isometry
        torch.testing.assert_close(leg, leg[:4].repeat(8), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "factors"),
    [("constant", [1, 1, 1, 1]), ("linear", [1, 0.75, 0.5, 0.25]),
     ("warmup-linear", [0.1, 7.5 / 9, 5 / 9, 2.5 / 9]),
     ("cosine", [1, (2 + 2**0.5) / 4, 0.5, (2 - 2**0.5) / 4])],
)  # fmt: skip
def test_schedule_lowers_the_rate_in_each_task_by_step(
    name: str, factors: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It multiplies the decayed rate, starts again in each task, and resumes to the same bits."""
    config = attrs.evolve(
        tiny_config("fine-tuning"), learning_rate=0.1, learning_rate_decay=0.5, schedule=name
    )
    rates: list[float] = []
    step = Adam.step

    def noting(optimizer: Any, *given: Any) -> Any:
        rates.append(optimizer.param_groups[0]["lr"])
        return step(optimizer, *given)

    monkeypatch.setattr(Adam, "step", noting)
    whole = tiny_learn(config, tmp_path)
    decayed = [0.1, 0.1, 0.05, 0.05]
    expected = [rate * factor for rate, factor in zip(decayed, factors, strict=True)]
    assert rates == pytest.approx(expected * 2)
    resumed = stopped_and_resumed(config, tmp_path, after=3)
    assert same(parameters(whole), parameters(resumed))


def test_learning_rate_decays_after_each_epoch_of_a_task(tmp_path: Path) -> None:
    """As torch's ExponentialLR, and again from its start in the next task; it is resumed."""
    config = attrs.evolve(tiny_config("fine-tuning"), learning_rate=0.1, learning_rate_decay=0.9)
    config = attrs.evolve(config, tasks=tuple(attrs.evolve(t, epochs=4) for t in config.tasks))
    rates: list[float] = []

    def note(run: Any, losses: Any) -> None:  # noqa: ARG001
        [group] = run.learner.optimizer.param_groups
        rates.append(group["lr"])

    run = learn(prepare(config, tmp_path / "run"), on_step=note)
    optimizer = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    expected = []
    for _ in range(4):
        expected += schedule.get_last_lr() * BATCHES
        optimizer.step()
        schedule.step()
    assert rates == expected * 2
    resumed = stopped_and_resumed(config, tmp_path, after=7 * BATCHES + 1)
    assert same(parameters(resumed), parameters(run))


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_run_with_the_settings_of_invit_resumes_to_the_same_bits(
    tmp_path: Path, problem: str
) -> None:
    """AdamW, a decaying rate, random images in training, tests and trial."""
    config = attrs.evolve(
        tiny_config("llr-bc", problem),
        solver="invit",
        solver_options={**TINY, **INVIT_OPTIONS, "trial_batches": 2},
        **INVIT_SETTINGS,
    )
    whole = learn(prepare(config, tmp_path / "run"))
    resumed = stopped_and_resumed(config, tmp_path, after=2 * BATCHES + 1)
    assert same(parameters(resumed), parameters(whole))
    assert [attrs.astuple(cost) for cost in resumed.costs] == [
        attrs.astuple(cost) for cost in whole.costs
    ]
    assert not same(parameters(whole), whole.learner.initial)
