"""The methods of ``benchmarks/ideas``: each resumes to the same bytes, and does what it says."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods import rehearsal
from lifelong_co_plugins.methods.experience_replay.replayed import ReplayedBundle
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from lifelong_co_plugins.methods.instance_replay.solved import SolvedTasks
from paths import ROOT

import lifelong_co as lco
from lifelong_co.protocols import Method
from lifelong_co.replay.behavior_packing import pack_behavior
from lifelong_co.replay.consolidation import consolidation_loss
from lifelong_co.replay.experience import record
from lifelong_co.tensors import records
from lifelong_co.testing import check_method
from lifelong_co.testing.trial import Trial, new_trial

TINY = {"embedding_dim": 16, "encoder_layer_num": 1, "ff_hidden_dim": 16}


@pytest.fixture
def ideas(monkeypatch: pytest.MonkeyPatch, program: Callable[[str], Any]) -> Any:
    """Return the package of the plugin."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "ideas"))
    program("lifelong_co_ideas.plugin")
    return program("lifelong_co_ideas")


def sample(count: int, size: int) -> Any:
    """Return uniform instances of the CVRP."""
    return lco.distribution("U", problem="cvrp").sample(count, size)


def trial(method: Method) -> Trial:
    """Return a run of two tasks that has not begun; it always has the same parameters."""
    torch.manual_seed(0)
    return new_trial(method, lco.solver("pomo", "cvrp", **TINY), "U", (5, 6), 0)


def with_losses(values: Sequence[float]) -> Method:
    """Return a method whose term has these values, one in each step."""
    left = iter(values)

    def loss_terms(*_: Any) -> Iterator[tuple[str, torch.Tensor]]:
        yield "held", torch.tensor(next(left))

    return Method(loss_terms=loss_terms)


@pytest.mark.parametrize(
    "name",
    [
        "rehearsal-solved-again",
        "rehearsal-two-replays",
        "rehearsal-weight-space",
        "llr-bc-best-start",
        "llr-bc-loosening",
        "llr-bc-where-worse",
    ],
)
def test_those_with_a_state_go_on_after_an_interruption(ideas, name):
    """As if there had been none."""
    found: dict[str, Any] = {}
    ideas.plugin.register_methods(found.__setitem__)
    check_method(found[name], lambda: lco.solver("pomo", "tsp", **TINY))


def test_both_have_their_terms_and_observers(ideas):
    """The first one's terms come first; an observer is there if one of them has one."""
    seen: list[str] = []

    def observing(name: str) -> Method:
        return Method(observer=lambda *_: lambda *_: seen.append(name))

    one, two = with_losses([1.0, 1.0]), with_losses([2.0, 2.0])
    assert [float(term) for _, term in ideas.together.both(one, two).loss_terms(None, None)] == [
        1.0,
        2.0,
    ]
    assert ideas.together.both(one, two).observer(None, None) is None
    ideas.together.both(observing("a"), observing("b")).observer(None, None)(None, None)
    ideas.together.both(one, observing("c")).observer(None, None)(None, None)
    assert seen == ["a", "b", "c"]


def test_second_method_is_asked_before_the_terms_of_the_first(ideas):
    """It can note the norm of the policy's gradient, to which the first one's terms add."""
    asked: list[str] = []

    def asking(name: str) -> Method:
        def loss_terms(*_: Any) -> Iterator[tuple[str, torch.Tensor]]:
            asked.append(name)
            yield name, torch.tensor(0.0)

        return Method(loss_terms=loss_terms)

    for name, _ in ideas.together.both(asking("one"), asking("two")).loss_terms(None, None):
        asked.append(f"{name} differentiated")
    assert asked.index("two") < asked.index("one differentiated")


def test_second_half_replays_there_only(ideas, monkeypatch):
    """In the last two of four steps."""
    noted: list[int] = []

    def loss_terms(learner: Any, _: Any) -> Iterator[tuple[str, torch.Tensor]]:
        noted.append(learner.task)
        if learner.task:
            yield "replay", torch.tensor(1.0)

    monkeypatch.setattr(ideas.replay, "of_demo", lambda _: Method(loss_terms=loss_terms))
    method = ideas.replay.second_half()
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
    losses = with_losses([1.0, 2.0, 0.1])
    monkeypatch.setattr(ideas.consolidation, "of_demo", lambda _: losses)
    method = ideas.consolidation.loosening()
    found = [float(term) for _ in range(3) for _, term in method.loss_terms(None, None)]
    assert found == pytest.approx([1.0, 2.0, 0.1 * (0.271 / 0.271) / (0.29 / 0.19)])


def test_best_start_takes_the_solver_of_the_lowest_cost(ideas, monkeypatch):
    """Of the one before the first task and the one after it, whichever is better."""
    method = ideas.parameters.best_start("fine-tuning")
    learner = trial(method).learner
    solver = learner.solver
    instances = sample(128, 6)
    monkeypatch.setattr(ideas.parameters, "training", lambda *_: lambda *_: instances)

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
    real = ideas.replay.SolvedTasks

    def made() -> Any:
        kept.append(real())
        return kept[-1]

    monkeypatch.setattr(ideas.replay, "SolvedTasks", made)
    method = getattr(ideas.replay, name)()
    run = new_trial(method, lco.solver("pomo", "cvrp", **TINY), "U", (5, 6, 7), 0)
    costs: list[list[torch.Tensor]] = []

    def noted(_: Any) -> None:
        costs.append([one.cost.clone() for one in kept[0].tasks])

    run.method = ideas.together.both(method, Method(before_epoch=noted, after_step=noted))
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


@pytest.fixture
def bundle() -> Any:
    """Return instances 1 and 3 of four, in two steps of a rollout, each with weight 1."""
    solver, instances = lco.solver("pomo", "cvrp", **TINY), sample(4, 5)
    steps: list[Any] = []

    def keep(state: Any, log_probs: torch.Tensor) -> None:
        steps.append(record(0, instances, state, log_probs))

    solver.rollout(instances, "greedy", observe=keep)
    ones = torch.ones(2, steps[0].trajectories_and_actions[0])
    return ReplayedBundle((steps[0], steps[2]), torch.tensor([1, 3]), (ones, 2 * ones))


def test_where_worse_only_worse_instances_count(ideas, bundle):
    """An instance that costs as much as before does not."""
    costs = {bundle.steps[0]: torch.tensor([9.0, 2.0, 9.0, 2.0])}
    found = ideas.consolidation.held(costs, bundle, torch.tensor([2.0, 2.5]))
    assert torch.equal(found.weights[0], torch.tensor([[0.0], [1.0]]) * bundle.weights[0])
    assert torch.equal(found.weights[1], torch.tensor([[0.0], [1.0]]) * bundle.weights[1])


def test_behavior_is_overwritten_where_the_solver_is_better(ideas, bundle):
    """Of the two instances of the bundle the second one is better."""
    solver = lco.solver("pomo", "cvrp", **TINY)
    for parameter in solver.module.parameters():
        parameter.data.mul_(-3.0)  # decisions that differ clearly from the stored ones
    cost = torch.tensor([9.0, 2.0, 9.0, 2.0])
    before = [step.log_probs() for step in bundle.steps]
    weights = Weights(consolidation_loss("variance", "rkl"), 1.0, random.Random(0))
    stale = weights.raw(bundle.steps)
    solved = torch.tensor([2.0, 1.5])
    ideas.consolidation.improved(weights, solver, {bundle.steps[0]: cost}, bundle, solved)
    assert cost.tolist() == [9.0, 2.0, 9.0, 1.5]
    encoding = solver.encode(bundle.steps[0].instances)
    for step, old in zip(bundle.steps, before, strict=True):
        new, present = step.log_probs(), solver.log_probs(encoding, step.state())
        assert torch.equal(new[:3], old[:3])
        torch.testing.assert_close(new[3].exp(), present[3].exp(), atol=1e-3, rtol=1e-2)
        assert not torch.allclose(new[3].exp(), old[3].exp(), atol=1e-2)
    assert not torch.equal(weights.raw(bundle.steps)[0][3], stale[0][3])


@pytest.mark.parametrize("name", ["where_worse", "overwritten"])
@pytest.mark.parametrize("change", [1.0, -1.0])
def test_costs_of_past_tasks_are_compared_with_those_of_replayed_instances(
    ideas, monkeypatch, name, change
):
    """Here all replayed instances cost more, or less, than at the start of the second task."""
    real, starts, terms, written = ideas.consolidation.solved, [True], [], []

    def solved(solver: Any, batches: Sequence[Any]) -> list[torch.Tensor]:
        now = 0.0 if starts[-1] else change
        return [torch.full_like(cost, 5.0 + now) for cost in real(solver, batches)]

    def write(behavior: torch.Tensor) -> Any:
        written.append(len(behavior))
        return pack_behavior(behavior)

    monkeypatch.setattr(ideas.consolidation, "solved", solved)
    monkeypatch.setattr(ideas.consolidation, "pack_behavior", write)
    method = getattr(ideas.consolidation, name)()

    def loss_terms(learner: Any, rollout: Any) -> Iterator[tuple[str, torch.Tensor]]:
        for label, term in method.loss_terms(learner, rollout):
            terms.append(term.item())
            yield label, term

    run = trial(attrs.evolve(method, loss_terms=loss_terms))
    starting = Method(
        before_task=lambda _: starts.append(True), before_epoch=lambda _: starts.append(False)
    )
    run.method = ideas.together.both(starting, run.method)
    run.run()
    # What was just overwritten is the present behavior, in half precision.
    assert (abs(terms[0]) > 0.01) == (change > 0)
    assert bool(written) == (name == "overwritten" and change < 0)


def test_costs_are_those_of_greedy_solutions(ideas):
    """Batches of several sizes, one of them twice."""
    solver = lco.solver("pomo", "cvrp", **TINY)
    small, large = (sample(3, size) for size in (5, 6))
    found = ideas.consolidation.solved(solver, [small, large, small])
    for batch, cost in zip((small, large, small), found, strict=True):
        expected = solver.rollout(batch, "greedy").cost.amin(dim=1)
        torch.testing.assert_close(cost, expected)
    assert found[0] is not found[2]  # each bundle has costs that change alone


def test_where_worse_imitates_only_solutions_that_are_not_reached(ideas, monkeypatch):
    """Here the solver reaches those of even places: their imitation has no loss."""
    kept, places, losses = SolvedTasks(), [], []
    real, take = rehearsal.mismatch, kept.take

    def taken(task: int, at: Sequence[int]) -> torch.Tensor:
        places.append(at)
        return take(task, at)

    def mismatch(solver: Any, batch: Any, encoding: Any, actions: Any, forced: int) -> Any:
        for i, place in enumerate(places[-1]):
            one = records.select(batch, slice(i, i + 1))
            T = min(len(known[place]), actions.shape[2])  # the rest is waiting
            loss = real(solver, one, solver.encode(one), actions[i : i + 1], forced)
            losses.append((place, loss.item(), torch.equal(actions[i, 0, :T], known[place][:T])))
        return real(solver, batch, encoding, actions, forced)

    def forget(learner: Any) -> None:
        if learner.task and learner.epoch == 0:
            kept.tasks[0].cost[0::2], kept.tasks[0].cost[1::2] = torch.inf, 0.0
            known.extend(kept.tasks[0].actions.clone())
            for parameter in learner.solver.module.parameters():
                parameter.data.add_(0.1 * torch.randn(parameter.shape, generator=stream))

    known: list[torch.Tensor] = []
    stream = torch.Generator().manual_seed(0)
    monkeypatch.setattr(kept, "take", taken)
    monkeypatch.setattr(ideas.replay, "SolvedTasks", lambda: kept)
    monkeypatch.setattr(rehearsal, "mismatch", mismatch)
    run = trial(ideas.replay.where_worse())
    run.method = ideas.together.both(run.method, Method(before_epoch=forget))
    run.run()
    even, odd = ([each for each in losses if each[0] % 2 == k] for k in (0, 1))
    assert max(loss for _, loss, _ in even) < 1e-6
    assert all(same for _, _, same in odd)
    assert max(loss for _, loss, _ in odd) > 1e-3


def test_reset_moves_what_matters_least(ideas):
    """Four fifths of the numbers go halfway back."""
    value = torch.nn.Parameter(torch.zeros(2, 5))
    optimizer = torch.optim.Adam([value])
    importance = torch.tensor([[9.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, -10.0]])
    optimizer.state[value] = {"exp_avg": importance, "exp_avg_sq": torch.ones(2, 5)}
    ideas.parameters.reset(optimizer, [torch.ones(2, 5)])
    kept = torch.tensor([[True, *[False] * 4], [*[False] * 4, True]])
    assert torch.equal(value.data, torch.where(kept, 0.0, 0.5))


def test_weight_space_ends_with_the_mean_after_the_reset(ideas, monkeypatch):
    """In the second task only; the first ends with its last parameters, to which it goes back."""
    resets: list[tuple[int, torch.Tensor]] = []

    def reset(_: Any, before: list[torch.Tensor]) -> None:
        resets.append((len(after), torch.cat([each.flatten() for each in before])))

    monkeypatch.setattr(ideas.parameters, "reset", reset)
    method = ideas.parameters.consolidated_in_weight_space()
    after: list[torch.Tensor] = []

    def flat(learner: Any) -> torch.Tensor:
        return torch.cat([value.data.flatten() for value in learner.solver.module.parameters()])

    def note(learner: Any) -> None:
        after.append(flat(learner))

    run = trial(method)
    run.method = ideas.together.both(method, Method(after_step=note, after_task=note))
    run.run()
    steps = len(after) // 2 - 1
    first, second = after[: steps + 1], after[steps + 1 :]
    assert torch.equal(first[-1], first[-2])
    [(when, before)] = resets
    assert when == len(first) + steps // 4 - 1  # `after` has this step only later
    assert torch.equal(before, first[-1])
    late = torch.stack(second[:-1][steps // 4 :])
    torch.testing.assert_close(second[-1], late.mean(dim=0), atol=1e-6, rtol=1e-5)
    assert not torch.allclose(second[-1], second[-2], atol=1e-6)
