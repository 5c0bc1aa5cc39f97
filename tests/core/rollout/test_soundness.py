"""A run refuses a solver whose first rollout is not what it says; each mistake has its reason."""

from typing import Any

import attrs
import pytest
import torch
from changed_solvers import Changed, Replaced, Wrapped, double_cost, scaled_in_place, visits_twice
from faulty_solvers import NeverGreedy
from tiny_runs import MODEL, tiny_config
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co.errors import ComponentError
from lifelong_co.learner import learn
from lifelong_co.protocols import Rollout
from lifelong_co.runs.prepare import prepare

pytestmark = pytest.mark.usefixtures("fresh_registry")
OUTSIDE = nn.Parameter(torch.ones(()))


def replaced(change: Any) -> Any:
    """Return what builds a solver whose rollouts pass through a function."""
    return lambda problem: Replaced(lambda _, __, rollout: change(rollout), problem)


def drawing(rollout: Rollout) -> Rollout:
    """Draw from the global stream."""
    torch.rand(())
    return rollout


class Growing(Wrapped):
    """Makes a layer in its first rollout."""

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Make it."""
        self.module.late = nn.Linear(1, 1)
        return super().rollout(*arguments, **keywords)


class Silent(Wrapped):
    """Does not call an observer."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:  # noqa: ARG002
        """Hand on no observer."""
        return super().rollout(*arguments, **keywords)


class Sparing(Wrapped):
    """Does not call an observer where the state leaves no choice."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Leave out the last step."""

        def some(state: Any, log_probs: Tensor) -> None:
            if bool((log_probs.isfinite().sum(dim=2) > 1).any()):
                observe(state, log_probs)

        return super().rollout(*arguments, observe=observe and some, **keywords)


class Apart(Changed):
    """Changes its log-probabilities, except in its rollouts."""

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Return the good one."""
        return self.inner.rollout(*arguments, **keywords)  # type: ignore[no-any-return]


def uniform(log_probs: Tensor) -> Tensor:
    """Give every action the same probability, also where it is infeasible."""
    return torch.zeros_like(log_probs).log_softmax(dim=2)


def nan_and_twice(problem: Any, instances: Any, rollout: Rollout) -> Rollout:
    """Visit a node twice, with one log-likelihood of NaN."""
    found = visits_twice(problem, instances, rollout)
    likelihood = found.log_likelihood.clone()
    likelihood[0, 0] = torch.nan
    return attrs.evolve(found, log_likelihood=likelihood)


WRONG = {
    "instances": (
        lambda problem: Replaced(scaled_in_place, problem),
        "does not change the instances, got other nodes",
    ),
    "infeasible": (
        lambda problem: Replaced(visits_twice, problem),
        r"complete and feasible, got others \(",
    ),
    "nan": (
        lambda problem: Changed(lambda x: x * torch.nan, problem),
        "complete and feasible, got others; its log-probabilities are NaN",
    ),
    "nan, recorded": (
        lambda problem: Replaced(nan_and_twice, problem),
        "complete and feasible, got others; its log-probabilities are NaN",
    ),
    "cost": (lambda problem: Replaced(double_cost, problem), "the cost that the problem counts"),
    "tuple": (replaced(lambda found: (found,)), "a Rollout .* got tuple"),
    "shape": (
        replaced(lambda found: attrs.evolve(found, log_likelihood=found.cost[..., None])),
        r"a log_likelihood \[B, S\] = \[4, 5\], got \[4, 5, 1\]",
    ),
    "outside": (
        replaced(lambda found: attrs.evolve(found, log_likelihood=found.log_likelihood * OUTSIDE)),
        r"another one, of shape \[\]",
    ),
    "random": (replaced(drawing), "given generator only"),
    "late": (Growing, "a change of late.bias, late.weight"),
    "never greedy": (NeverGreedy, "the same greedy solutions twice"),
    "silent": (Silent, "calls observe"),
    "half silent": (Sparing, r"after the forced first actions, 4 to 5 times .* got 3 calls"),
    "sign": (
        replaced(lambda found: attrs.evolve(found, log_likelihood=-found.log_likelihood)),
        "a log_likelihood that is the sum of log_probs, -",
    ),
    "recurrent": (
        lambda problem: Apart(lambda x: (3 * x).log_softmax(dim=2), problem),
        "a log_likelihood that is the sum of log_probs, -",
    ),
    "one of many": (
        replaced(
            lambda found: attrs.evolve(
                found, log_likelihood=found.log_likelihood - 9 * torch.eye(4, 5)
            )
        ),
        r"a log_likelihood that is the sum of log_probs, -\d\.\d+, got -(9|1\d)\.",
    ),
    "probabilities": (lambda problem: Apart(torch.exp, problem), "exponentials sum to 1, got a"),
    "unmasked": (lambda problem: Apart(uniform, problem), "-inf where an action is infeasible"),
    "width": (lambda problem: Apart(lambda x: x[..., 1:], problem), r"log_probs \[B, S, A\] = "),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_solver_is_refused_in_the_first_step(mistake, plugin, tmp_path):
    """Nothing is learned from it; the message names the solver and what is wrong."""
    build, message = WRONG[mistake]
    lco.register_plugin(plugin("register_solvers", "wrong", build))
    config = attrs.evolve(tiny_config("llr-bc", "tsp"), solver="wrong", solver_options={})
    config = attrs.evolve(config, method_options={"record": "always", "buffer_size": 8})
    run = prepare(config, tmp_path / "run")
    with pytest.raises(ComponentError, match=f"solver 'wrong': expected .*{message}"):
        learn(run)
    assert run.steps == 0


def test_sound_solver_learns_as_without_the_wrapper(plugin, tmp_path):
    """A wrapped solver is accepted, and learns as the one inside."""
    lco.register_plugin(plugin("register_solvers", "same", Wrapped))
    costs = []
    for name, options in (("same", {}), ("pomo", MODEL)):
        config = attrs.evolve(
            tiny_config("fine-tuning", "tsp"), solver=name, solver_options=options
        )
        costs.append([one.cost for one in learn(prepare(config, tmp_path / name)).costs])
    assert costs[0] == costs[1]
