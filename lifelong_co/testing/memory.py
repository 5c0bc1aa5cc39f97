"""Checks that experiences can be recorded, packed, stored and replayed."""

from typing import Any

import torch

from lifelong_co.protocols import Rollout, Solver
from lifelong_co.replay.experience import PackedExperience, from_state_dicts, halved, state_dicts
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect, expect_everywhere, expect_probs
from lifelong_co.testing.samples import Observed, mode, observed_rollout


@torch.no_grad()
def check_replay(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that recorded states, when replayed, give the recorded behavior.

    - The states that an observer sees in a sampled rollout are those that the actions lead to.
    - They do not change afterwards, because a method may keep them until the rollout is over.
    - A second encoding of the batch gives the same probabilities in the unpacked states.
    - The packed behavior gives them within 2e-4, the resolution of half precision.

    All this must hold for whole batches in evaluation mode and in training mode, in which
    consolidation learns. A network with dropout does not pass, because its behavior is random.
    """
    for training in (False, True):
        with mode(solver.module, training=training):
            rollout, steps = observed_rollout(solver, instances, "sample", seed)
            _check_kept(steps)
            _check_states(solver, instances, rollout, steps)
            encoding = solver.encode(instances)
            for step in steps:
                came = solver.log_probs(encoding, step.unit.state())
                what = f"the recorded probs [B, S, A], {'training' if training else 'evaluation'}"
                expect_probs("check_replay", what, came, step.log_probs.exp())
                behavior = step.unit.log_probs().exp()
                expect_probs("check_replay", f"{what}, packed", came, behavior, packed=True)


@torch.no_grad()
def check_round_trip(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that a buffer and its ``state_dict`` return states bit for bit as they were recorded.

    The behavior is returned as it is packed (`experience.halved`); it must equal the one that the
    observer has seen.
    """
    with mode(solver.module, training=False):
        _, steps = observed_rollout(solver, instances, "sample", seed)
    buffer: Reservoir[PackedExperience] = Reservoir(len(steps), seed)
    for step in steps:
        buffer.add(step.unit)
    plain = {**buffer.state_dict(), "items": state_dicts(list(buffer))}
    restored: Reservoir[PackedExperience] = Reservoir(0)
    items = from_state_dicts(plain["items"], solver.problem, records.device(instances))
    restored.load_state_dict({**plain, "items": items})
    for step, unit in zip(steps, restored, strict=True):
        _check_same_bits("state", unit.state(), step.state)
        _check_same_bits("instances", unit.instances, instances)
        expect_everywhere(
            "check_round_trip",
            "the recorded behavior [B, S, A], as packed",
            unit.behavior == halved(step.log_probs),
            unit.behavior,
        )


def _check_kept(steps: list[Observed]) -> None:
    expected = "steps that stay unchanged for the observer (pass copies if their memory is reused)"
    for number, step in enumerate(steps):
        state, log_probs = step.shown
        was = {**records.tensors(step.state), "log_probs": step.log_probs}
        now = {**records.tensors(state), "log_probs": log_probs}
        changed = [name for name, tensor in was.items() if not torch.equal(tensor, now[name])]
        came = f"a changed {', '.join(changed)} of step {number} after the rollout"
        expect(not changed, "check_replay", expected, came)


def _check_states(solver: Solver, instances: Any, rollout: Rollout, steps: list[Observed]) -> None:
    """Check that the observed states are those of the problem, without the forced steps."""
    problem = solver.problem
    T, S = rollout.actions.shape[2], rollout.actions.shape[1]
    state = problem.reset(instances, S)
    for t in range(T):
        if t >= T - len(steps):
            seen = records.tensors(steps[t - (T - len(steps))].state)
            for name, want in records.tensors(state).items():
                expect(
                    name in seen and bool((seen[name] == want).all()),
                    "check_replay",
                    f"an observer that gets the state before step {t}",
                    f"another {name!r}",
                )
        state = problem.step(instances, state, rollout.actions[..., t])


def _check_same_bits(what: str, came: Any, want: Any) -> None:
    fields, wanted = records.tensors(came), records.tensors(want)
    expected = f"the {what} with fields {', '.join(wanted)}"
    expect(fields.keys() == wanted.keys(), "check_round_trip", expected, ", ".join(fields))
    for name, tensor in wanted.items():
        expect(
            fields[name].dtype == tensor.dtype and torch.equal(fields[name], tensor),
            "check_round_trip",
            f"the recorded {what}.{name}, {tensor.dtype} {list(tensor.shape)}, bit for bit",
            f"a different {fields[name].dtype} {list(fields[name].shape)}",
        )
