"""Solutions that a past solver sampled, with its behavior on the way, and their replay."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import LearnerState, Observer, Rollout, Solver
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.rollout.one_pass import side_by_side
from lifelong_co.seeding import python_seed, restore
from lifelong_co.tensors import records
from lifelong_co.tensors.heap import CopyThread
from lifelong_co.tensors.modules import device_of
from lifelong_co.tensors.precision import in_full, not_half
from lifelong_co_plugins.methods.instance_replay.memory import per_process, shape


@attrs.frozen(eq=False)
class Solutions:
    """``s`` sampled solutions of each of ``b`` instances of one size."""

    instances: Any
    forced: int
    """How many first actions were forced."""
    actions: Tensor
    """Long ``[b, s, T]``, the forced ones included."""
    advantage: Tensor
    """Float ``[b, s]``: the cost less the mean cost of the instance in its rollout."""
    behavior: Tensor
    """Log-probabilities ``[b, s, T - forced, A]`` in half precision: what the past solver did."""


class SolutionMemory:
    """A uniform sample of all instances that were learned, each with some sampled solutions.

    Parameters
    ----------
    capacity
        Instances held, at least 0. Several processes each hold a share, rounded up.
    trajectories
        Solutions kept of each, at least 1; fewer if the solver samples fewer.
    """

    def __init__(self, capacity: int, trajectories: int) -> None:
        self.capacity = capacity
        self.trajectories = trajectories
        self.reservoir: Reservoir[Solutions] = Reservoir(capacity)
        self.random = random.Random()
        self._slots: dict[int, int] = {}
        """Slot to row of what the present batch has to store."""
        self._chosen = torch.empty(0, dtype=torch.long)
        self._instances: Any = None
        self._behavior: list[Tensor] = []
        self._thread = CopyThread()

    def start(self, learner: LearnerState) -> None:
        """Seed the random streams before the first task."""
        if learner.task == 0:
            seed = python_seed(learner.seed, "solutions")
            self.reservoir = Reservoir(per_process(self.capacity, learner), seed)
            self.random.seed(python_seed(learner.seed, "replayed solutions"))

    def observer(self, learner: LearnerState, instances: Any) -> Observer:  # noqa: ARG002
        """Return an observer that keeps the behavior on the instances that the reservoir admits."""
        self._slots, self._behavior, self._instances = {}, [], instances
        for row in range(records.rows(instances)):
            slot = self.reservoir.admit()
            if slot is not None:
                self._slots[slot] = row  # of several rows for one slot the last one stays
        rows = torch.tensor(list(self._slots.values()), device=records.device(instances))

        def observe(state: Any, log_probs: Tensor) -> None:  # noqa: ARG001
            if not self._slots:
                return
            if not self._behavior:  # the first step says how many trajectories there are
                S = log_probs.shape[1]
                chosen = self.random.sample(range(S), min(self.trajectories, S))
                self._chosen = torch.tensor(chosen, device=log_probs.device)
            part = log_probs.detach()[rows[:, None], self._chosen]
            self._behavior.append(part.half())

        return observe

    def store(self, rollout: Rollout) -> None:
        """Put the admitted instances of a rollout, which was observed, into the reservoir."""
        slots, self._slots = self._slots, {}
        if not slots or not self._behavior:
            return
        with in_full(self._behavior[0].device):  # autocast joins no half-precision tensors
            behavior = torch.stack(self._behavior, dim=2)  # [b, s, T - forced, A]
        self._behavior = []
        advantage = rollout.cost - rollout.cost.mean(dim=1, keepdim=True)
        forced = rollout.actions.shape[2] - behavior.shape[2]
        rows = slots.values()
        given = [records.select(self._instances, slice(row, row + 1)) for row in rows]
        solved = [
            {
                "actions": rollout.actions[row : row + 1, self._chosen],
                "advantage": advantage[row : row + 1, self._chosen],
                "behavior": behavior[i : i + 1],
            }
            for i, row in enumerate(rows)
        ]
        copies = self._thread.copies([*map(records.tensors, given), *solved])
        build, b = type(self._instances), len(slots)
        for slot, fields, kept in zip(slots, copies[:b], copies[b:], strict=True):
            self.reservoir.put(slot, Solutions(build(**fields), forced, **kept))

    def sample(self, k: int) -> list[Solutions]:
        """Return ``k`` instances, or all if fewer are held; those of one size are joined."""
        held = list(self.reservoir)
        groups: dict[Any, list[Solutions]] = {}
        for one in self.random.sample(held, min(k, len(held))):
            kind = (shape(one.instances), one.forced, one.behavior.shape[1], one.behavior.shape[3])
            groups.setdefault(kind, []).append(one)
        return [join(group) for group in groups.values()]

    def state_dict(self) -> dict[str, Any]:
        """Return all that is held and the random streams, as plain data."""
        held = self.reservoir.state_dict()
        items = [
            {
                "instances": records.tensors(one.instances),
                "forced": one.forced,
                "actions": one.actions,
                "advantage": one.advantage,
                "behavior": one.behavior,
            }
            for one in held["items"]
        ]
        return {"reservoir": {**held, "items": items}, "random": self.random.getstate()}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        device = device_of(learner.solver.module)
        build = learner.problem.instances_type
        items = [
            Solutions(
                records.to(build(**one["instances"]), device),
                one["forced"],
                *(one[name].to(device) for name in ("actions", "advantage", "behavior")),
            )
            for one in state["reservoir"]["items"]
        ]
        self.reservoir = Reservoir(per_process(self.capacity, learner))
        self.reservoir.load_state_dict({**state["reservoir"], "items": items})
        restore(self.random, state["random"])


def join(parts: Sequence[Solutions]) -> Solutions:
    """Join solutions of one size; shorter ones go on with their last action, which is forced."""
    T = max(one.actions.shape[2] for one in parts)
    with in_full(parts[0].behavior.device):  # autocast joins no half-precision tensors
        longer = [lengthened(one, T) for one in parts]
        return Solutions(
            instances=records.concatenate([one.instances for one in longer]),
            forced=parts[0].forced,
            actions=torch.cat([one.actions for one in longer]),
            advantage=torch.cat([one.advantage for one in longer]),
            behavior=torch.cat([one.behavior for one in longer]),
        )


def lengthened(one: Solutions, T: int) -> Solutions:
    """Return the same solutions with ``T`` actions, at least as many as they have."""
    more = T - one.actions.shape[2]
    if not more:
        return one
    certain = torch.full_like(one.behavior[:, :, :1], -torch.inf)
    certain.scatter_(3, one.actions[..., -1:, None], 0.0)
    return attrs.evolve(
        one,
        actions=waiting(one.actions, T),
        behavior=torch.cat([one.behavior, certain.expand(-1, -1, more, -1)], dim=2),
    )


def waiting(actions: Tensor, T: int) -> Tensor:
    """Return actions ``[..., T]`` of at most ``T``: a finished solution repeats its last one."""
    more = T - actions.shape[-1]
    return torch.cat([actions, actions[..., -1:].expand(*actions.shape[:-1], more)], dim=-1)


def behavior_along(
    solver: Solver, instances: Any, encoding: Any, actions: Tensor, forced: int
) -> Tensor:
    """Return log-probabilities ``[b, s, T - forced, A]`` on the way of given solutions.

    Parameters
    ----------
    encoding
        That of the instances.
    actions
        Long ``[b, s, T]``.
    forced
        How many first actions are not the solver's; they are left out.
    """
    problem = solver.problem
    b, s, T = actions.shape
    state = problem.reset(instances, s)
    states = []
    for t in range(T):
        if t >= forced:
            states.append(state)
        state = problem.step(instances, state, actions[..., t])
    log_probs = not_half(solver.log_probs(encoding, side_by_side(states)))
    return log_probs.view(b, len(states), s, -1).transpose(1, 2)
