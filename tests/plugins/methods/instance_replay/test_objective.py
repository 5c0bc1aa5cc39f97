"""The policy loss on replayed instances: its random stream, its baseline and its state."""

from pathlib import Path
from typing import Any

import attrs
import torch
from lifelong_co_plugins.methods.instance_replay.objective import ReplayObjective
from tiny_runs import exact_run, tiny_config

from lifelong_co.protocols import LearnerState
from lifelong_co.reinforce import greedy_baseline
from lifelong_co.runs.run import Run
from lifelong_co.seeding import generator


@attrs.frozen(eq=False)
class GreedilyJudged:
    """A solver whose objective has a greedy baseline, and so a state."""

    solver: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solver, name)

    def objective(self) -> Any:
        """Return REINFORCE with a greedy baseline."""
        return greedy_baseline(self.solver)


def learning(folder: Path) -> tuple[Run, LearnerState, Any]:
    """Return a new run, its learner and a batch of its first task."""
    run = exact_run(tiny_config("feng"), folder)
    return run, run.learner, run.learner.draw(0)


def test_loss_is_reinforce_on_a_stream_of_the_step(tmp_path: Path) -> None:
    """The run's stream of actions stays; the same step and purpose give the same loss."""
    run, learner, instances = learning(tmp_path)
    learner.task, learner.epoch, learner.batch = 1, 0, 3
    before = run.actions.get_state()
    replayed = ReplayObjective()
    found = replayed.loss(learner, instances, "of task 0")
    assert torch.equal(run.actions.get_state(), before)
    stream = generator(learner.seed, "replayed actions 1 0 3 of task 0")
    rollout = learner.solver.rollout(instances, "sample", generator=stream)
    advantage = rollout.cost - rollout.cost.mean(dim=1, keepdim=True)
    expected = (advantage * rollout.log_likelihood).mean()
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)
    assert found.requires_grad
    assert torch.equal(replayed.loss(learner, instances, "of task 0"), found)
    learner.batch = 4
    assert not torch.equal(replayed.loss(learner, instances, "of task 0"), found)


def gradients(module: torch.nn.Module, loss: torch.Tensor) -> list[torch.Tensor]:
    """Return the gradient of each parameter."""
    return list(torch.autograd.grad(loss, list(module.parameters())))


def test_an_encoding_is_used_again_and_gets_gradients(tmp_path: Path) -> None:
    """Loss and gradients are those without it, and the solver does not encode once more."""
    _, learner, instances = learning(tmp_path)
    replayed, module = ReplayObjective(), learner.solver.module
    expected = replayed.loss(learner, instances, "p")
    encoding, wanted = learner.solver.encode(instances), gradients(module, expected)
    calls: list[Any] = []
    with module.layers[0].register_forward_pre_hook(lambda _, given: calls.append(given)):
        found = replayed.sample(learner, instances, "p", encoding)[0]
    assert calls == []
    assert torch.equal(found, expected)
    torch.testing.assert_close(gradients(module, found), wanted, rtol=1e-9, atol=1e-15)


def test_state_of_the_objective_is_restored(tmp_path: Path) -> None:
    """A greedy baseline keeps the parameters of the start of the task through a checkpoint."""
    _, learner, instances = learning(tmp_path)
    solver = learner.solver
    learner.solver = GreedilyJudged(solver)
    replayed, again = ReplayObjective(), ReplayObjective()
    assert replayed.state_dict() == {}
    replayed.before_task(learner)
    with torch.no_grad():
        for value in solver.module.parameters():
            value += 0.1 * torch.sign(value)
    again.load_state_dict(learner, replayed.state_dict())
    found = [each.loss(learner, instances, "p") for each in (replayed, again)]
    assert torch.equal(*found)
