"""Experiences come back as they were: states exactly, behaviors in half precision."""

from pathlib import Path
from typing import Any

import pytest
import torch
from goldens import PROBLEMS, golden
from hypothesis import given
from hypothesis import strategies as st
from strategies import Walk, identical, walks
from tiny_runs import MODEL
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import CheckpointError
from lifelong_co.replay.experience import (
    PackedExperience,
    from_state_dicts,
    plain_behavior,
    record,
    state_dicts,
)
from lifelong_co.storage import checkpoint
from lifelong_co.tensors import records

both = pytest.mark.parametrize("name", PROBLEMS)
HALF = 2.0**-11  # relative rounding error of half precision
TINY = 2.0**-25  # and the absolute one near zero


def behavior(walk: Walk, step: int, seed: int) -> Tensor:
    """Return random log-probabilities ``[B, S, A]`` over the actions feasible at a step."""
    mask = walk.masks[step]
    generator = torch.Generator().manual_seed(seed)
    logits = 10 * torch.randn(mask.shape, generator=generator, dtype=torch.float64)
    dtype = walk.instances.nodes.dtype
    return logits.masked_fill(~mask, -torch.inf).log_softmax(dim=2).to(dtype)


@st.composite
def steps(draw: st.DrawFn, problem: str) -> tuple[Any, Any, Tensor]:
    """Draw instances, a state that is not forced, and a behavior there."""
    walk = draw(walks(problem))
    last = len(walk.states) - 2  # a solver is not asked once all is done
    step = draw(st.integers(min(walk.forced, last), last))
    return walk.instances, walk.states[step], behavior(walk, step, draw(st.integers(0, 999)))


def close_to_half(got: Tensor, want: Tensor) -> bool:
    """Return whether log-probabilities agree within half precision, -inf exactly."""
    same = (got == want) | ((got - want).abs() <= HALF * want.abs() + TINY)
    return got.dtype == want.dtype and bool(same.all())


@both
@given(data=st.data())
def test_state_and_behavior_are_restored(name: str, data: st.DataObject) -> None:
    """The state is the same bit for bit, the behavior within half precision."""
    instances, state, log_probs = data.draw(steps(name))
    experience = record(3, instances, state, log_probs)
    assert experience.task == 3
    assert experience.instances is instances
    assert experience.rows == records.rows(instances)
    assert identical(experience.state(), state)
    assert type(experience.state()) is type(state)
    assert close_to_half(experience.log_probs(), log_probs)


@both
@given(data=st.data())
def test_chosen_rows_are_restored(name: str, data: st.DataObject) -> None:
    """Any instances, repeated and in any order, equal a selection from the batch."""
    instances, state, log_probs = data.draw(steps(name))
    B = records.rows(instances)
    chosen = torch.tensor(data.draw(st.lists(st.integers(0, B - 1), min_size=1, max_size=6)))
    experience = record(0, instances, state, log_probs)
    assert identical(experience.state(chosen), records.select(state, chosen))
    assert torch.equal(experience.log_probs(chosen), experience.log_probs()[chosen])
    assert identical(experience.state(slice(0, 1)), records.select(state, slice(0, 1)))


@both
def test_recorded_experience_is_a_copy(name: str) -> None:
    """It keeps no tensor and no graph of the batch, and does not change with them."""
    stored = golden(name)
    state = stored.problem.reset(stored.instances, 10)
    state = records.transform(state, lambda tensor: tensor.clone())
    before = records.transform(state, lambda tensor: tensor.clone())
    solver = stored.solver()
    log_probs = solver.log_probs(solver.encode(stored.instances), state)
    assert log_probs.requires_grad
    experience = record(0, stored.instances, state, log_probs)
    for tensor in records.tensors(state).values():
        tensor.zero_()
    assert identical(experience.state(), before)
    kept = list(experience.packed.values())
    assert not any(tensor.requires_grad for tensor in kept)
    assert sum(tensor.untyped_storage().nbytes() for tensor in kept) == experience.nbytes


@pytest.mark.parametrize("name", PROBLEMS)
def test_experience_needs_a_fifth_of_the_official_memory(name: str) -> None:
    """The official one has float32 probabilities and a float32 mask for every action."""
    solver = lco.solver("pomo", problem=name, **MODEL)
    instances = lco.distribution("U", problem=name).sample(4, 20)
    steps: list[PackedExperience] = []
    solver.rollout(
        instances,
        observe=lambda state, log_probs: steps.append(record(0, instances, state, log_probs)),
    )
    B = steps[0].rows
    S, A = steps[0].trajectories_and_actions
    official = B * S * A * (4 + 4)
    assert sum(step.nbytes for step in steps) / len(steps) <= official / 5


def recorded(name: str, task: int = 0) -> list[PackedExperience]:
    """Return the experiences of a greedy rollout on one batch."""
    stored = golden(name)
    experiences: list[PackedExperience] = []
    stored.solver().rollout(
        stored.instances,
        observe=lambda state, log_probs: experiences.append(
            record(task, stored.instances, state, log_probs)
        ),
    )
    return experiences


@both
def test_recorded_state_gives_the_recorded_behavior(name: str) -> None:
    """The policy depends on the state only: called again it gives the same, except for rounding."""
    solver = golden(name).solver()
    experiences = recorded(name)
    encoding = solver.encode(experiences[0].instances)
    assert len(experiences) == golden(name).probs.shape[2]
    for experience in experiences:
        again = solver.log_probs(encoding, experience.state())
        assert close_to_half(experience.log_probs(), again)
        rows = torch.tensor([1])
        part = solver.encode(records.select(experience.instances, rows))
        again = solver.log_probs(part, experience.state(rows))
        # Alone in a batch, products may be added in another order.
        torch.testing.assert_close(
            experience.log_probs(rows), again, rtol=1.01 * HALF, atol=1e-6, equal_nan=False
        )


@both
@pytest.mark.parametrize("through_a_file", [False, True])
def test_experiences_of_a_batch_share_its_instances(
    name: str, through_a_file: bool, tmp_path: Path
) -> None:
    """It also holds after a checkpoint, where two batches stay two."""
    first, second = recorded(name, task=0), recorded(name, task=4)
    mixed = [first[2], second[0], first[0], second[5], first[2]]
    plain = state_dicts(mixed)
    if through_a_file:
        plain = checkpoint.load(checkpoint.save(tmp_path, 1, {"units": plain}))["units"]
    back = from_state_dicts(plain, golden(name).problem, torch.device("cpu"))
    assert [experience.task for experience in back] == [0, 4, 0, 4, 0]
    assert back[0].instances is back[2].instances is back[4].instances
    assert back[1].instances is back[3].instances
    assert back[0].instances is not back[1].instances
    for got, want in zip(back, mixed, strict=True):
        assert identical(got.state(), want.state())
        assert identical(got.instances, want.instances)
        assert torch.equal(got.log_probs(), want.log_probs())


def test_plain_experiences_of_older_versions_are_read_or_refused() -> None:
    """A report reads their behavior, which had all actions; a run does not go on from them."""
    (state, *_) = state_dicts(recorded("tsp"))
    dense = {**state, "behavior": plain_behavior(state)}
    del dense["feasible"]
    assert torch.equal(plain_behavior(dense), recorded("tsp")[0].behavior)
    with pytest.raises(CheckpointError, match="feasible actions only, got those of an older"):
        from_state_dicts([dense], golden("tsp").problem, torch.device("cpu"))
