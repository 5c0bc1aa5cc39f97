"""The methods of ``benchmarks/ideas``: each resumes to the same bytes, and does what it says."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from paths import ROOT

import lifelong_co as lco
from lifelong_co.protocols import Method
from lifelong_co.testing import check_method
from lifelong_co.testing.trial import Trial, new_trial

TINY = {"embedding_dim": 16, "encoder_layer_num": 1, "ff_hidden_dim": 16}


@pytest.fixture
def ideas(monkeypatch: pytest.MonkeyPatch, program: Callable[[str], Any]) -> Any:
    """Return the module of the plugin."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "ideas"))
    return program("lifelong_co_ideas")


def trial(method: Method) -> Trial:
    """Return a run of two tasks that has not begun."""
    return new_trial(method, lco.solver("pomo", "cvrp", **TINY), "U", (5, 6), 0)


def with_losses(values: Sequence[float]) -> Method:
    """Return a method whose term has these values, one in each step."""
    left = iter(values)

    def loss_terms(*_: Any) -> Iterator[tuple[str, torch.Tensor]]:
        yield "held", torch.tensor(next(left))

    return Method(loss_terms=loss_terms)


@pytest.mark.parametrize(
    "name",
    ["rehearsal-consolidated", "rehearsal-solved-again", "llr-bc-best-start", "llr-bc-loosening"],
)
def test_those_with_a_state_go_on_after_an_interruption(ideas, name):
    """As if there had been none."""
    found: dict[str, Any] = {}
    ideas.register_methods(found.__setitem__)
    check_method(found[name], lambda: lco.solver("pomo", "tsp", **TINY))


def test_both_have_their_terms_and_observers(ideas):
    """The first one's terms come first; an observer is there if one of them has one."""
    seen: list[str] = []

    def observing(name: str) -> Method:
        return Method(observer=lambda *_: lambda *_: seen.append(name))

    one, two = with_losses([1.0, 1.0]), with_losses([2.0, 2.0])
    assert [float(term) for _, term in ideas.both(one, two).loss_terms(None, None)] == [1.0, 2.0]
    assert ideas.both(one, two).observer(None, None) is None
    ideas.both(observing("a"), observing("b")).observer(None, None)(None, None)
    ideas.both(one, observing("c")).observer(None, None)(None, None)
    assert seen == ["a", "b", "c"]


def test_second_method_is_asked_before_the_terms_of_the_first(ideas):
    """It can note the norm of the policy's gradient, to which the first one's terms add."""
    asked: list[str] = []

    def asking(name: str) -> Method:
        def loss_terms(*_: Any) -> Iterator[tuple[str, torch.Tensor]]:
            asked.append(name)
            yield name, torch.tensor(0.0)

        return Method(loss_terms=loss_terms)

    for name, _ in ideas.both(asking("one"), asking("two")).loss_terms(None, None):
        asked.append(f"{name} differentiated")
    assert asked.index("two") < asked.index("one differentiated")


def test_second_half_replays_there_only(ideas, monkeypatch):
    """In the last two of four steps."""
    noted: list[int] = []

    def loss_terms(learner: Any, _: Any) -> Iterator[tuple[str, torch.Tensor]]:
        noted.append(learner.task)
        if learner.task:
            yield "replay", torch.tensor(1.0)

    monkeypatch.setattr(ideas, "of_demo", lambda _: Method(loss_terms=loss_terms))
    method = ideas.second_half()
    learner = trial(method).learner
    learner.task = 1
    replays = []
    for step in range(4):
        learner.epoch, learner.batch = divmod(step, 2)
        replays.append(len([*method.loss_terms(learner, None)]))
    assert replays == [0, 0, 1, 1]
    assert len(noted) == 4  # the norm of the gradient is noted in each step


def test_loosening_follows_the_average_loss(ideas, monkeypatch):
    """As long as the average rises, the weight is whole."""
    monkeypatch.setattr(ideas, "of_demo", lambda _: with_losses([1.0, 2.0, 0.1]))
    method = ideas.loosening()
    found = [float(term) for _ in range(3) for _, term in method.loss_terms(None, None)]
    assert found == pytest.approx([1.0, 2.0, 0.1 * (0.271 / 0.271) / (0.29 / 0.19)])


def test_best_start_takes_the_solver_of_the_lowest_cost(ideas, monkeypatch):
    """Of the one before the first task and the one after it, whichever is better."""
    method = ideas.best_start("fine-tuning")
    learner = trial(method).learner
    solver = learner.solver
    instances = lco.distribution("U", problem="cvrp").sample(128, 6)
    monkeypatch.setattr(ideas, "training", lambda *_: lambda *_: instances)

    def cost() -> float:
        solver.module.eval()
        with torch.no_grad():
            return float(solver.rollout(instances, "greedy").cost.amin(dim=1).mean())

    method.before_task(learner)
    costs = [cost()]
    for parameter in solver.module.parameters():
        parameter.data.mul_(-1.0)
    method.after_task(learner)
    costs.append(cost())
    assert costs[0] != costs[1]
    for parameter in solver.module.parameters():
        parameter.data.zero_()
    learner.task = 1
    method.before_task(learner)
    assert cost() == min(costs)


@pytest.mark.parametrize("name", ["solutions_stay", "solved_again"])
def test_samples_change_no_stored_solution(ideas, monkeypatch, name):
    """During a task all stored solutions stay; before a task only better ones replace them."""
    kept: list[Any] = []
    real = ideas.SolvedTasks

    def made() -> Any:
        kept.append(real())
        return kept[-1]

    monkeypatch.setattr(ideas, "SolvedTasks", made)
    method = getattr(ideas, name)()
    run = new_trial(method, lco.solver("pomo", "cvrp", **TINY), "U", (5, 6, 7), 0)
    costs: list[list[torch.Tensor]] = []

    def noted(_: Any) -> None:
        costs.append([one.cost.clone() for one in kept[0].tasks])

    run.method = ideas.both(method, Method(before_epoch=noted, after_step=noted))
    run.run()
    second, third = [one for one in costs if len(one) == 1], [one for one in costs if len(one) == 2]
    for of in (second, third):
        assert len(of) == 6
        assert all(torch.equal(a, b) for one in of for a, b in zip(one, of[0], strict=True))
    assert (third[0][0] <= second[0][0]).all()
    assert torch.equal(third[0][0], second[0][0]) == (name == "solutions_stay")


@pytest.mark.usefixtures("fresh_registry")
def test_runs_are_read_without_the_installed_plugin(program):
    """The tables of the documentation need no installation."""
    found = program("study").Study.named("ideas").results()
    assert all(len(found.metrics(row)) > 4 for block in found.plan.blocks for row in block.rows)
