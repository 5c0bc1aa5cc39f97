"""`check_objective` passes the shipped objectives and names the fault of a wrong one."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
import torch
from changed_solvers import Wrapped
from contract_faults import assert_named
from tiny_runs import MODEL
from torch import Tensor

import lifelong_co as lco
from lifelong_co import registry, testing
from lifelong_co.problems.atsp import ATSP
from lifelong_co.protocols import Objective, Rollout
from lifelong_co.reinforce import greedy_baseline
from lifelong_co.rollout.one_pass import likelihood as rollout_likelihood


def changed(change: Callable[[Tensor], Tensor]) -> Callable[[Any], Objective]:
    """Return REINFORCE with its loss changed."""

    def objective(solver: Any) -> Objective:
        inner = lco.objective("reinforce", solver)
        return Objective(loss=lambda instances, rollout: change(inner.loss(instances, rollout)))

    return objective


def baseline(solver: Any) -> Objective:  # noqa: ARG001
    """Return an objective that forgets its baseline."""
    mean = torch.zeros(())

    def loss(instances: Any, rollout: Rollout) -> Tensor:  # noqa: ARG001
        mean.add_(1)
        apart = rollout.cost - rollout.cost.mean(dim=1, keepdim=True)
        return (apart * rollout.log_likelihood).mean() * mean

    return Objective(loss=loss)


def per_epoch(solver: Any) -> Objective:
    """Return an objective that forgets what it keeps at the end of an epoch."""
    inner, epochs = lco.objective("reinforce", solver), [1]

    def loss(instances: Any, rollout: Rollout) -> Tensor:
        return inner.loss(instances, rollout) * epochs[0]

    return Objective(loss=loss, after_epoch=lambda _: epochs.append(epochs.pop() + 1))


def in_place(solver: Any) -> Objective:
    """Return REINFORCE that centres the costs of the rollout in place."""
    inner = lco.objective("reinforce", solver)

    def loss(instances: Any, rollout: Rollout) -> Tensor:
        rollout.cost.sub_(rollout.cost.mean(dim=1, keepdim=True))
        return inner.loss(instances, rollout)

    return Objective(loss=loss)


MUTANTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "no objective": ("an Objective, got dict", lambda _: {}),
    "float": ("a tensor as loss, got float", changed(lambda loss: loss.item())),
    "vector": ("to be a scalar", changed(lambda loss: loss[None])),
    "in place": ("a loss that leaves instances and rollout unchanged, got changed cost", in_place),
    "NaN": ("to be finite", changed(lambda loss: loss * torch.nan)),
    "detached": ("to depend on the parameters", changed(Tensor.detach)),
    "zero": ("gradients of the loss, got zero", changed(lambda loss: 0 * loss)),
    "wrong sign": ("cheap trajectories likelier, got -", changed(lambda loss: -loss)),
    "no state_dict": ("after load_state_dict", baseline),
    "no state of epochs": ("after load_state_dict", per_epoch),
    "unsaved": (
        "a state_dict that can be saved",
        lambda solver: Objective(
            loss=lco.objective("reinforce", solver).loss, state_dict=lambda: {"x": object()}
        ),
    ),
}


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("name", registry.names("objective"))
def test_shipped_objective_passes(name: str, problem: str) -> None:
    """All registered objectives keep the contract with several trajectories."""
    solver = lco.solver("pomo", problem, **MODEL)
    testing.check_objective(lambda each: lco.objective(name, each), solver)


def test_objective_of_a_solver_with_one_trajectory_passes() -> None:
    """INViT learns with a greedy baseline."""
    solver = lco.solver("invit", "tsp")
    testing.check_objective(lambda each: lco.objective("reinforce", each), solver)


def test_objective_is_checked_on_given_instances_of_any_problem() -> None:
    """Also one instance, and a problem that no six distributions draw."""
    atsp = ATSP(embed=lambda matrix: torch.stack((matrix.mean(2), matrix.mean(1)), 2), width=2)
    drawn = lco.distribution("tmat", atsp).sample(3, 8, generator=torch.Generator().manual_seed(0))
    tsp = lco.problem("tsp")
    for problem, given in ((atsp, drawn), (tsp, tsp.instances(nodes=torch.rand(1, 8, 2)))):
        sizes = []

        def drawing(solver: Any, problem: Any = problem, sizes: list[int] = sizes) -> Objective:
            def before_task(learner: Any) -> None:
                sizes.append(problem.size(learner.stream.batch(0, 0)))

            return attrs.evolve(lco.objective("reinforce", solver), before_task=before_task)

        testing.check_objective(drawing, lco.solver("pomo", problem, **MODEL), instances=given)
        assert sizes == [8, 8]


class Decodes(Wrapped):
    """Learns by likelihoods that its objective computes again."""

    def objective(self) -> Objective:
        """Return REINFORCE."""

        def loss(instances: Any, rollout: Rollout) -> Tensor:
            S, states = rollout.actions.shape[1], []
            forced = len(self.problem.starts(instances, S))
            state = self.problem.reset(instances, S)
            for action in rollout.actions.unbind(2):
                states.append(state)
                state = self.problem.step(instances, state, action)
            taken = rollout.actions[..., forced:]
            again = rollout_likelihood(self, instances, states[forced:], taken)
            return ((rollout.cost - rollout.cost.mean(dim=1, keepdim=True)) * again).mean()

        return Objective(loss=loss)


class NearlyCertain(Wrapped):
    """Nearly always takes the same actions, and compares them with a greedy rollout."""

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return sharp ones."""
        return (30 * super().log_probs(encoding, state)).log_softmax(dim=2)

    def objective(self) -> Objective:
        """Return INViT's."""
        return greedy_baseline(self)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("build", [Decodes, NearlyCertain])
def test_correct_objective_of_another_kind_passes(build: Callable[[], Any], seed: int) -> None:
    """One that does not use the likelihood of the rollout, and one whose costs hardly differ."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        solver = build()
    testing.check_objective(lambda each: each.objective(), solver, seed=seed)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_fault_of_an_objective_is_named(mutant: str) -> None:
    """One line says what is wrong."""
    says, objective = MUTANTS[mutant]
    assert_named(says, testing.check_objective, objective, lco.solver("pomo", "tsp", **MODEL))
