"""Feng et al.: the schedule of replay and its loss."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from lifelong_co_plugins.methods.feng import scheduled
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from tiny_runs import BATCHES, exact_run, tiny_config, tiny_learn

from lifelong_co.learner import train_batch
from lifelong_co.runs.run import Run
from lifelong_co.seeding import generator
from lifelong_co.tensors import records


def test_schedule_by_hand() -> None:
    """Past task ``j`` is replayed in every fifth step, first in step ``j``."""
    assert [scheduled(step, 0, 5) for step in range(3)] == [[], [], []]
    assert [scheduled(step, 2, 5) for step in range(8)] == [[0], [1], [], [], [], [0], [1], []]
    assert [scheduled(step, 3, 2) for step in range(3)] == [[0, 2], [1], [0, 2]]
    assert [scheduled(step, 2, 1) for step in range(2)] == [[0, 1], [0, 1]]


def test_loss_of_a_replayed_step_by_hand(tmp_path: Path) -> None:
    """The gradient is that of ``L_DRL + alpha L_DRL(replayed)``."""
    config = tiny_config("feng", sizes=(5, 6), alpha=0.7, every=2)
    run = exact_run(config, tmp_path)
    learner = run.learner
    run.method.before_task(learner)
    learner.batch = 1
    train_batch(run)
    learner.task, learner.epoch, learner.batch = 1, 0, 0
    run.method.before_task(learner)
    run.learner.optimizer.step = lambda: None  # type: ignore[method-assign]
    memory = InstanceMemory(200)
    memory.load_state_dict(learner, run.method.state_dict()["memory"])
    streams = run.actions.get_state(), run.stream.generator.get_state()
    losses = train_batch(run)
    module = learner.solver.module
    got = {name: value.grad.clone() for name, value in module.named_parameters()}
    run.actions.set_state(streams[0])
    run.stream.generator.set_state(streams[1])
    replayed = memory.sample(learner, 0)
    stream = generator(learner.seed, "replayed actions 1 0 0 of task 0")
    total = torch.zeros((), dtype=torch.float64)
    for weight, instances, actions in (
        (1.0, learner.draw(1), run.actions),
        (0.7, replayed, stream),
    ):
        rollout = learner.solver.rollout(instances, "sample", generator=actions)
        advantage = rollout.cost - rollout.cost.mean(dim=1, keepdim=True)
        total = total + weight * (advantage * rollout.log_likelihood).mean()
    assert records.rows(replayed) == 4
    assert float(losses["policy"] + losses["replay"]) == pytest.approx(total.item(), rel=1e-9)
    module.zero_grad()
    total.backward()
    for name, value in module.named_parameters():
        torch.testing.assert_close(got[name], value.grad, rtol=1e-8, atol=1e-9, msg=name)
    learner.batch = 1  # an odd step: nothing is due
    assert set(train_batch(run)) == {"cost", "policy"}


def test_replay_grows_with_the_number_of_tasks(tmp_path: Path) -> None:
    """With ``every = 2`` each past task is replayed in half of the steps."""
    replays: Counter[int] = Counter()

    def watch(run: Run, each: dict[str, torch.Tensor]) -> None:
        replays[run.learner.task] += "replay" in each

    tiny_learn(tiny_config("feng", sizes=(5, 6, 5), every=2), tmp_path, on_step=watch)
    assert [replays[task] for task in range(3)] == [0, BATCHES, 2 * BATCHES]
