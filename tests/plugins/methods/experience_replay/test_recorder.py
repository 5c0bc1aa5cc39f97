"""An experience is noted while the rollout runs, and packed and put after the step."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from lifelong_co_plugins.methods.experience_replay.recorder import Recorder
from scipy import stats
from tiny_runs import MODEL

import lifelong_co as lco
from lifelong_co.replay.class_balanced import Balanced
from lifelong_co.replay.reservoir import Reservoir


def rollout(buffer: Any, steps: int, actions: int, size: int) -> None:
    """Offer a rollout of so many steps; the step's number is its state's only content."""
    tsp = lco.problem("tsp")
    instances = tsp.instances(nodes=torch.rand(1, actions, 2))
    recorder = Recorder(size)
    observe = recorder.observer(buffer, 0, instances)
    for step in range(steps):
        observe(tsp.reset(instances, 1), torch.full((1, 1, actions), float(step)))
    recorder.store(buffer)


def numbers(bundle: Bundle) -> list[int]:
    """Return which steps of the rollout a bundle holds."""
    return [int(step.behavior.flatten()[0]) for step in bundle.steps]


@given(actions=st.integers(2, 40), more=st.integers(-1, 20), size=st.integers(0, 9))
def test_every_step_is_in_one_bundle(actions: int, more: int, size: int) -> None:
    """Steps of a bundle are spread evenly over the rollout; each bundle has the given length."""
    steps = actions + more
    buffer: Reservoir[Bundle] = Reservoir(1000)
    rollout(buffer, steps, actions, size)
    held = [numbers(bundle) for bundle in buffer]
    assert sorted(step for own in held for step in own) == list(range(steps))
    most = {0: 1, 1: steps}.get(size, math.ceil(actions / max(size, 1)))
    count = min(steps, most)
    assert len(held) == count
    for own in held:
        assert own == list(range(own[0], steps, count))
        if size:
            assert len(own) <= math.ceil(steps * size / actions)


def test_every_step_is_held_equally_often() -> None:
    """A chi-square test over the steps of a rollout has the level 0.1 %."""
    held = torch.zeros(7)
    for seed in range(600):
        buffer: Reservoir[Bundle] = Reservoir(1, seed=seed)
        for _ in range(3):
            rollout(buffer, 7, 7, 2)
        for bundle in buffer:
            held[numbers(bundle)] += 1
    # Held together, so not independent: of each of the four bundles one step is counted.
    assert held[0] == held[4]
    assert stats.chisquare(held[:4]).pvalue > 1e-3


class Newest:
    """The buffer of docs/plugins.md: it keeps the newest items."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.seen = capacity, 0
        self.items: list[Bundle] = []

    def admit(self) -> int:
        """Take every item."""
        self.seen += 1
        return (self.seen - 1) % self.capacity

    def put(self, slot: int, item: Bundle) -> None:
        """Store an item."""
        self.items[slot : slot + 1] = [item]

    def __iter__(self) -> Any:
        return iter(self.items)


@pytest.mark.parametrize("capacity", [3, 7, 40])
@pytest.mark.parametrize("kind", [Reservoir, Balanced, Newest])
def test_late_and_immediate_puts_give_the_same_buffer(kind: Any, capacity: int) -> None:
    """A rollout's steps are put after it; the buffer ends as if each was put when admitted."""
    recorded, at_once = kind(capacity), kind(capacity)
    for each in range(6):
        rollout(recorded, 7, 7 + each, 1)
        for step in range(7):
            slot = at_once.admit()
            if slot is not None:
                at_once.put(slot, (7 + each, step))
    held = [(each.steps[0].trajectories_and_actions[1], *numbers(each)) for each in recorded]
    assert held == list(at_once)
    assert len(held) == min(capacity, 42)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_step_without_any_choice_is_not_recorded(problem: str, size: int) -> None:
    """Where each state has one feasible action, there is no behavior to keep; all else is kept."""
    solver = lco.solver("pomo", problem=problem, **MODEL)
    instances = lco.distribution("U", problem=problem).sample(3, 6)
    choices: list[bool] = []
    held: dict[bool, list[Any]] = {}
    for forced in (False, True):
        buffer: Reservoir[Bundle] = Reservoir(1000)
        recorder = Recorder(size)
        observe = recorder.observer(buffer, 0, instances, forced=forced)

        def watch(state: Any, log_probs: torch.Tensor, observe: Any = observe) -> None:
            choices.append(bool((solver.problem.feasible(instances, state).sum(2) > 1).any()))
            observe(state, log_probs)

        generator = torch.Generator().manual_seed(0)
        solver.rollout(instances, "sample", generator=generator, observe=watch)
        recorder.store(buffer)
        held[forced] = [step for bundle in buffer for step in bundle.steps]
    steps = choices[: len(choices) // 2]
    assert not all(steps)  # the last one is forced
    assert [len(held[forced]) for forced in (False, True)] == [sum(steps), len(steps)]
    for step in held[False]:
        assert bool(((step.behavior > -torch.inf).sum(dim=2) > 1).any())


def test_experiences_are_packed_after_the_step() -> None:
    """Before, the buffer holds nothing of them; afterwards, nothing is left to store."""
    tsp = lco.problem("tsp")
    instances = tsp.instances(nodes=torch.rand(2, 4, 2))
    buffer: Reservoir[Bundle] = Reservoir(10)
    recorder = Recorder(1)
    observe = recorder.observer(buffer, 3, instances)
    shown = torch.zeros(2, 1, 4, requires_grad=True)
    observe(tsp.reset(instances, 1), shown)
    assert buffer.seen == 1
    assert len(buffer) == 0
    recorder.store(buffer)
    (bundle,) = buffer
    (step,) = bundle.steps
    assert (bundle.task, step.task) == (3, 3)
    assert not any(tensor.requires_grad for tensor in step.packed.values())
    recorder.store(buffer)
    assert list(buffer) == [bundle]
    with pytest.raises(AttributeError):
        step.packed = {}
