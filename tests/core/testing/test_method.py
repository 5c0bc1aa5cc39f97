"""`check_method` passes the shipped methods and names the fault of a wrong one."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from contract_faults import assert_named
from tiny_runs import MODEL

import lifelong_co as lco
from lifelong_co import registry, testing
from lifelong_co.protocols import Method
from lifelong_co.tensors import records
from lifelong_co.testing.trial import new_trial


def tiny() -> Any:
    """Return a small solver."""
    return lco.solver("pomo", "cvrp", **MODEL)


def pulled(learner: Any) -> Any:
    """Return the squared length of the parameters."""
    return sum(value.square().sum() for value in learner.solver.module.parameters())


def terms(make: Callable[[Any], Any]) -> Callable[[], Method]:
    """Return a factory of a method with one loss term."""
    return lambda: Method(loss_terms=lambda learner, rollout: [make(learner)])  # noqa: ARG005


def of_rollout() -> Method:
    """Return a method whose term is made of the rollout, whose graph is free by then."""
    return Method(loss_terms=lambda _, rollout: [("x", rollout.log_likelihood.square().mean())])


def counting(save: bool) -> Method:
    """Return a method whose term grows with its steps; it saves the count, or forgets it."""
    steps = [0]

    def loss_terms(learner: Any, rollout: Any) -> Any:  # noqa: ARG001
        steps[0] += 1
        yield "growing", steps[0] * pulled(learner)

    def load(learner: Any, state: Any) -> None:  # noqa: ARG001
        steps[0] = state["steps"]

    if not save:
        return Method(loss_terms=loss_terms)
    state: Callable[[], Any] = lambda: {"steps": steps[0]}  # noqa: E731
    return Method(loss_terms=loss_terms, state_dict=state, load_state_dict=load)


def counts_batches() -> Method:
    """Return a method whose term grows with the calls of `batches`, which it saves."""
    calls = [0]

    def batches(learner: Any) -> int:
        calls[0] += 1
        return int(learner.tasks[learner.task].batches)

    return Method(
        batches=batches,
        loss_terms=lambda learner, _: [("growing", calls[0] * pulled(learner))],
        state_dict=lambda: {"calls": calls[0]},
        load_state_dict=lambda _, state: calls.__setitem__(0, state["calls"]),
    )


def spoils(learner: Any) -> None:
    """Make a parameter infinite."""
    next(iter(learner.solver.module.parameters())).data.fill_(torch.inf)


def frozen(learner: Any) -> None:
    """Undo every step."""
    learner.solver.module.load_state_dict(learner.initial)


def copying() -> Method:
    """Return a method that keeps a parameter at the end of an epoch, and does not save it."""
    kept: list[Any] = []

    def after_epoch(learner: Any) -> None:
        kept[:] = [next(iter(learner.solver.module.parameters())).detach().clone()]

    def loss_terms(learner: Any, rollout: Any) -> Any:  # noqa: ARG001
        now = next(iter(learner.solver.module.parameters()))
        return [("near", (now - old).square().sum()) for old in kept]

    return Method(
        before_task=lambda _: kept.clear(), after_epoch=after_epoch, loss_terms=loss_terms
    )


def foresees() -> Method:
    """Return a method whose term depends on how many tasks there will be."""
    return Method(loss_terms=lambda learner, _: [("x", len(learner.tasks) * pulled(learner))])


SHARED = [0]
"""What methods of one process share."""


def shares() -> Method:
    """Return a method that counts its steps outside of itself, and saves nothing."""

    def before_task(learner: Any) -> None:
        SHARED[0] = 0 if learner.task == 0 else SHARED[0]

    def loss_terms(learner: Any, rollout: Any) -> Any:  # noqa: ARG001
        SHARED[0] += 1
        yield "growing", SHARED[0] * pulled(learner)

    return Method(before_task=before_task, loss_terms=loss_terms)


def observing(change: Callable[[Any, Any], Any]) -> Callable[[], Method]:
    """Return a factory of a method that changes what it observes in the last epoch."""
    return lambda: Method(observer=lambda learner, _: change if learner.last_epoch else None)


MUTANTS: dict[str, tuple[str, Callable[[], Any]]] = {
    "no method": ("a Method, got dict", dict),
    "tensor term": ("loss terms (name, scalar)", terms(pulled)),
    "vector term": ("a scalar with gradients", terms(lambda s: ("x", pulled(s)[None]))),
    "number term": ("a scalar with gradients", terms(lambda s: ("x", pulled(s).item()))),
    "detached term": ("a scalar with gradients", terms(lambda s: ("x", pulled(s).detach()))),
    "term of the rollout": ("loss term 'x' with a separate graph, got", of_rollout),
    "NaN term": ("a finite loss term 'x'", terms(lambda s: ("x", pulled(s) * torch.nan))),
    "no terms": (
        "loss terms (name, scalar), got None",
        lambda: Method(loss_terms=lambda learner, rollout: None),  # noqa: ARG005
    ),
    "term of the loop": (
        "another name than cost, policy, seconds, got 'cost'",
        terms(lambda s: ("cost", pulled(s))),
    ),
    "writes into the state": (
        "an observer that only reads, got one that changes state.visited",
        observing(lambda state, _: state.visited.logical_not_()),
    ),
    "writes into log_probs": (
        "an observer that only reads, got one that changes log_probs",
        observing(lambda _, log_probs: log_probs.detach().fill_(0)),
    ),
    "state of the process": ("stopped after step 1 and resumed", shares),
    "no batches": ("batches of at least 1, got 0", lambda: Method(batches=lambda _: 0)),
    "counts batches": ("when batches is called twice before each step", counts_batches),
    "nodes": (
        "instances of type CVRPInstances, got Tensor",
        lambda: Method(instances=lambda learner: learner.draw(learner.task).nodes),
    ),
    "infinite": ("finite parameters", lambda: Method(after_task=spoils)),
    "frozen": ("parameters that change", lambda: Method(after_step=frozen)),
    "by chance": (
        "the same parameters from the same seed",
        terms(lambda s: ("x", float(torch.rand(())) * pulled(s))),
    ),
    "forgets": (
        "the same parameters when stopped after step 1 and resumed",
        lambda: counting(save=False),
    ),
    "forgets a copy": (
        "the same parameters when stopped after step 2 and the end of its epoch and resumed",
        copying,
    ),
    "foresees": (
        "the same parameters when the second task arrives after the first is learned",
        foresees,
    ),
    "unsaved": (
        "a state_dict that can be saved",
        lambda: Method(state_dict=lambda: {"object": object()}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", registry.names("method"))
def test_shipped_method_passes(name: str) -> None:
    """All registered methods keep the contract."""
    testing.check_method(lambda: lco.method(name), tiny)


def test_given_instances_stay_on_their_device() -> None:
    """A solver on a GPU gets batches there; ``meta`` is the other device of every machine."""
    given = records.to(lco.distribution("U", "cvrp").sample(3, 5), "meta")
    trial = new_trial(Method(), tiny(), "U", (5,), 0, instances=given)
    assert trial.learner.stream.device == "meta"


def test_method_that_saves_its_state_passes() -> None:
    """It differs from a wrong one only in `state_dict`."""
    testing.check_method(lambda: counting(save=True), tiny)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_fault_of_a_method_is_named(mutant: str) -> None:
    """One line says what is wrong."""
    says, factory = MUTANTS[mutant]
    assert_named(says, testing.check_method, factory, tiny)
