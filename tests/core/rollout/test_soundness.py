"""A run refuses a solver whose first rollout is not what it says; each mistake has its reason."""

from typing import Any

import attrs
import pytest
import torch
from tiny_runs import MODEL, tiny_config
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co.errors import ComponentError
from lifelong_co.learner import learn
from lifelong_co.rollout.soundness import leaves
from lifelong_co.runs.prepare import prepare

pytestmark = pytest.mark.usefixtures("fresh_registry")


class Changed:
    """POMO with some members replaced."""

    def __init__(self, problem: Any, **members: Any) -> None:
        self.inner = lco.solver("pomo", problem, **MODEL)
        self.members = members

    def __getattr__(self, name: str) -> Any:
        if name in ("inner", "members"):
            raise AttributeError(name)
        member = self.members.get(name)
        return getattr(self.inner, name) if member is None else member.__get__(self)


def rollout_with(change: Any) -> Any:
    """Return a rollout whose result is changed."""

    def rollout(self: Any, instances: Any, decode: Any = "greedy", **given: Any) -> Any:
        return change(self, instances, self.inner.rollout(instances, decode, **given))

    return rollout


def divided(self: Any, instances: Any, found: Any) -> Any:  # noqa: ARG001
    """Change the instances in place, as a careless normalisation does."""
    instances.nodes.mul_(0.5)
    return found


def first_twice(self: Any, instances: Any, found: Any) -> Any:  # noqa: ARG001
    """Visit the first node again at the end."""
    actions = found.actions.clone()
    actions[..., -1] = actions[..., 0]
    return attrs.evolve(found, actions=actions)


def drawing(self: Any, instances: Any, found: Any) -> Any:  # noqa: ARG001
    """Draw from the global stream."""
    torch.rand(())
    return found


def growing(self: Any, instances: Any, found: Any) -> Any:  # noqa: ARG001
    """Make a layer late."""
    self.inner.module.late = nn.Linear(1, 1)
    return found


OUTSIDE = nn.Parameter(torch.ones(()))


def with_outside(self: Any, instances: Any, found: Any) -> Any:  # noqa: ARG001
    """Use a parameter that the module does not have."""
    return attrs.evolve(found, log_likelihood=found.log_likelihood * OUTSIDE)


def silent(self: Any, instances: Any, decode: Any = "greedy", **given: Any) -> Any:
    """Do not call the observer."""
    return self.inner.rollout(instances, decode, **{**given, "observe": None})


def log_probs_with(change: Any) -> Any:
    """Return a policy that is changed outside rollouts."""
    return lambda self, encoding, state: change(self.inner.log_probs(encoding, state))


def infeasible_too(log_probs: Tensor) -> Tensor:
    """Give every action the same probability."""
    return torch.full_like(log_probs, -torch.tensor(float(log_probs.shape[2])).log().item())


WRONG = {
    "instances": ({"rollout": rollout_with(divided)}, "does not change the instances, got other n"),
    "infeasible": ({"rollout": rollout_with(first_twice)}, "complete and feasible, got others"),
    "reward": (
        {"rollout": rollout_with(lambda _, __, found: attrs.evolve(found, cost=-found.cost))},
        "the cost that the problem counts, got -",
    ),
    "tuple": ({"rollout": rollout_with(lambda _, __, found: (found,))}, "a Rollout .* got tuple"),
    "shape": (
        {
            "rollout": rollout_with(
                lambda _, __, f: attrs.evolve(f, log_likelihood=f.log_likelihood[..., None])
            )
        },
        r"a log_likelihood \[B, S\] = \[4, 5\], got \[4, 5, 1\]",
    ),
    "random": ({"rollout": rollout_with(drawing)}, "given generator only"),
    "late": ({"rollout": rollout_with(growing)}, "a change of late.bias, late.weight"),
    "outside": ({"rollout": rollout_with(with_outside)}, r"another one, of shape \[\]"),
    "silent": ({"rollout": silent}, "calls observe"),
    "probabilities": ({"log_probs": log_probs_with(torch.exp)}, "exponentials sum to 1, got a sum"),
    "unmasked": ({"log_probs": log_probs_with(infeasible_too)}, "-inf where an action is infeas"),
    "width": ({"log_probs": log_probs_with(lambda x: x[..., 1:])}, r"log_probs \[B, S, A\] = "),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_solver_is_refused_in_the_first_step(mistake, plugin, tmp_path):
    """Nothing is learned from it; the message names the solver and what is wrong."""
    members, message = WRONG[mistake]
    lco.register_plugin(
        plugin("register_solvers", "wrong", lambda problem: Changed(problem, **members))
    )
    config = attrs.evolve(tiny_config("llr-bc", "tsp"), solver="wrong", solver_options={})
    config = attrs.evolve(config, method_options={"record": "always", "buffer_size": 8})
    run = prepare(config, tmp_path / "run")
    with pytest.raises(ComponentError, match=f"solver 'wrong': expected .*{message}"):
        learn(run)
    assert run.steps == 0


def test_sound_solver_learns_as_without_the_wrapper(plugin, tmp_path):
    """The checks change nothing."""
    lco.register_plugin(plugin("register_solvers", "same", Changed))
    costs = []
    for name, options in (("same", {}), ("pomo", MODEL)):
        config = attrs.evolve(
            tiny_config("fine-tuning", "tsp"), solver=name, solver_options=options
        )
        costs.append([one.cost for one in learn(prepare(config, tmp_path / name)).costs])
    assert costs[0] == costs[1]


def test_leaves_are_those_of_the_graph():
    """Each once; a tensor without a graph has none."""
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    assert {id(leaf) for leaf in leaves((a * b + a).sum())} == {id(a), id(b)}
    assert list(leaves(c.detach())) == []
