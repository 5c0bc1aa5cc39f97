"""Fisher information against cases worked out by hand."""

import math
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods.regularization.fisher import fisher_information
from tiny_runs import BATCH_SIZE, begun, parameters, same, tiny_config
from torch import nn

from lifelong_co.errors import ComponentError
from lifelong_co.protocols import Rollout
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start
from lifelong_co.seeding import generator
from lifelong_co.tasks import instances as streams
from lifelong_co.tensors import records


def test_fisher_by_hand(tmp_path: Path) -> None:
    """The sum over batches of ``g^2 / B``, ``g`` that of the mean log-likelihood.

    By backpropagation through the solver's own parameters, and with a second batch that is the
    sum's other half; the run's streams, the parameters and their gradients stay as they were.
    """
    run = begun(tmp_path, tiny_config("ewc", sizes=(5, 6)))
    learner, module = run.learner, run.learner.solver.module
    before = run.stream.generator.get_state(), run.actions.get_state(), parameters(run)
    fisher = fisher_information(learner, 0, 2)
    assert torch.equal(run.stream.generator.get_state(), before[0])
    assert torch.equal(run.actions.get_state(), before[1])
    assert same(parameters(run), before[2])
    assert all(value.grad is None for value in module.parameters())

    draw = streams.training(learner.tasks[0], learner.problem)
    instances = generator(learner.seed, "fisher instances 0")
    actions = generator(learner.seed, "fisher actions 0")
    want = {name: torch.zeros_like(value) for name, value in module.named_parameters()}
    for _ in range(2):
        batch = draw(instances, BATCH_SIZE)
        assert records.rows(batch) == BATCH_SIZE
        rollout = learner.solver.rollout(batch, "sample", generator=actions)
        module.zero_grad()
        (rollout.log_likelihood.sum() / rollout.log_likelihood.numel()).backward()
        for name, value in module.named_parameters():
            if value.grad is not None:
                want[name] += value.grad**2 / BATCH_SIZE
    assert fisher.keys() == want.keys()
    assert max(float(value.max()) for value in want.values()) > 1e-6
    for name, value in want.items():
        torch.testing.assert_close(fisher[name], value, rtol=1e-3, atol=1e-10, msg=name)


class OneParameter:
    """A solver with one parameter: of its two solutions it takes the first with ``sigmoid(x)``."""

    def __init__(self, x: float, *, by_chance: bool = False) -> None:
        self.module = nn.ParameterDict({"x": nn.Parameter(torch.tensor(x))})
        self.by_chance = by_chance

    def rollout(
        self, instances: Any, *_: Any, generator: torch.Generator | None = None, **__: Any
    ) -> Rollout:
        """Take the first solution for one instance of ``B``, unless by chance."""
        B = records.rows(instances)
        first = torch.arange(B) == 0
        if self.by_chance:
            first = torch.rand(B, generator=generator) < self.module["x"].sigmoid()
        taken = torch.where(first, self.module["x"], -self.module["x"])
        cost = torch.full((len(first), 1), math.nan)  # no cost enters
        return Rollout(
            actions=first.long()[:, None, None],
            cost=cost,
            log_likelihood=nn.functional.logsigmoid(taken)[:, None],
        )


def test_fisher_of_a_bernoulli_policy(tmp_path: Path) -> None:
    """``p = sigmoid(x)``: ``g = ((1 - p) - (B - 1) p) / B``, in each of three batches."""
    run = begun(tmp_path, tiny_config("ewc", sizes=(5, 6)))
    run.learner.solver = OneParameter(0.4)
    p, B = 1 / (1 + math.exp(-0.4)), BATCH_SIZE
    gradient = ((1 - p) - (B - 1) * p) / B
    fisher = fisher_information(run.learner, 0, 3)
    assert fisher["x"].item() == pytest.approx(3 * gradient**2 / B, rel=1e-5)


def test_fisher_of_several_processes(tmp_path: Path) -> None:
    """With half a batch each, two processes find what one finds: in expectation, so on average.

    The gradient of the mean log-likelihood of ``B`` solutions of a Bernoulli policy has variance
    ``p (1 - p) / B``. Its square deviates by less than twice its mean, so the mean over 1,000
    batches is within five of its standard errors but in one of a million seeds.
    """
    batches, p = 1000, 1 / (1 + math.exp(-0.4))
    for processes in (1, 2):
        config = tiny_config("ewc", sizes=(5, 6))
        tasks = [attrs.evolve(t, batch_size=BATCH_SIZE // processes) for t in config.tasks]
        config = attrs.evolve(config, tasks=tuple(tasks))
        run = start(config, RunFolder(tmp_path / str(processes)))
        run.learner.solver = OneParameter(0.4, by_chance=True)
        run.learner.processes = processes
        found = fisher_information(run.learner, 0, batches)["x"].item() / batches
        expected = p * (1 - p) / BATCH_SIZE**2
        assert found == pytest.approx(expected, rel=5 * 2 / math.sqrt(batches))


def test_fisher_information_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    """The message names the task and the parameter."""
    learner = begun(tmp_path, tiny_config("ewc", sizes=(5, 6))).learner
    first, parameter = next(iter(learner.solver.module.named_parameters()))
    parameter.data.fill_(torch.nan)
    message = f"after task U5: the Fisher information of the parameter {first} is nan"
    with pytest.raises(ComponentError, match=message):
        fisher_information(learner, 0, 1)
