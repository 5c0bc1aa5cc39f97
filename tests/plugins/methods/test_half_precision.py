"""Likelihoods of a solver that gives bfloat16 are float32 wherever a method asks for them."""

from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods.experience_replay.behaviors import decoded
from lifelong_co_plugins.methods.instance_replay.solutions import behavior_along
from lifelong_co_plugins.methods.regularization.exemplar import Exemplar
from tiny_runs import MODEL
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co.protocols import Problem, Solver
from lifelong_co.rollout.action_selection import Decoding
from lifelong_co.rollout.static_rollout import new_tape


@attrs.frozen(eq=False)
class Half:
    """A solver whose log-probabilities are rounded, as torch's autocast on a CPU does it."""

    whole: Solver

    @property
    def problem(self) -> Problem:
        """That of the solver."""
        return self.whole.problem

    @property
    def module(self) -> nn.Module:
        """That of the solver."""
        return self.whole.module

    def encode(self, instances: Any) -> Any:
        """Return the solver's encoding."""
        return self.whole.encode(instances)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return the behavior, rounded."""
        return self.whole.log_probs(encoding, state).bfloat16()


@pytest.fixture
def half() -> Any:
    """Return the rounded solver of the TSP."""
    return Half(lco.solver("pomo", problem="tsp", **MODEL))


@pytest.fixture
def instances() -> Any:
    """Return two instances of five nodes."""
    stream = torch.Generator().manual_seed(0)
    return lco.distribution("U", problem="tsp").sample(2, 5, generator=stream)


def test_captured_steps(half: Any, instances: Any) -> None:
    """The steps that a GPU replays."""
    decoding = Decoding("greedy", trajectories=5, observe=lambda *_: None)
    with torch.no_grad():
        tape = new_tape(half, instances, decoding, lambda batch: half.problem.starts(batch, 5))
        tape.load(instances)
        tape.begin()
        tape.advance()
    assert {tape.kept[name].dtype for name in ("chosen", "log_probs")} == {torch.float32}


def test_replayed_steps(half: Any, instances: Any) -> None:
    """Those of experience replay, and those along stored solutions."""
    state = half.problem.reset(instances, 5)
    state = half.problem.step(instances, state, torch.arange(5).expand(2, 5))
    (found,) = decoded(half, half.encode(instances), [state], 1)
    solutions = torch.arange(5).expand(2, 1, 5)
    along = behavior_along(half, instances, half.encode(instances), solutions, forced=1)
    assert found.dtype == along.dtype == torch.float32


def test_exemplar(half: Any, instances: Any) -> None:
    """Both the exemplar's behavior and the learner's."""
    exemplar, seen = Exemplar(), list[torch.dtype]()
    exemplar.copy(half)
    exemplar.instances, exemplar.actions = instances, 5
    state = half.problem.reset(instances, 5)
    exemplar.states = [half.problem.step(instances, state, torch.arange(5).expand(2, 5))]

    def divergence(teacher: Tensor, learner: Tensor) -> Tensor:
        seen.extend((teacher.dtype, learner.dtype))
        return lco.divergence("rkl")(teacher, learner)

    assert len(list(exemplar.divergences(half, divergence))) == 1
    assert seen == [torch.float32] * 2
