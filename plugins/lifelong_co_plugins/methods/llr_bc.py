"""LLR-BC: lifelong learning with behavior consolidation (paper §3, algorithms 1 and 2)."""

import math
import random
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import torch
from torch import Tensor, nn

from lifelong_co import records, registry
from lifelong_co.consolidation import consolidation_loss
from lifelong_co.errors import ConfigError
from lifelong_co.experience import PackedExperience, from_state_dicts, record, state_dicts
from lifelong_co.protocols import Buffer, Learning, Method, Observer, Rollout
from lifelong_co.seeding import python_seed

# Tokens of one replay pass on the CPU, where larger temporaries cost more than they save.
CPU_TOKENS = 2048
# The task of experiences that come from another run.
ADOPTED = -1


def llr_bc(
    weighting: str = "variance",
    divergence: str = "rkl",
    behavior: str = "official",
    alpha: float = 100.0,
    buffer_size: int = 1000,
    replay_size: int = 16,
    replay_rows: float = 1.0,
    buffer: str = "reservoir",
) -> Method:
    """Return the method of the paper.

    Parameters
    ----------
    weighting, divergence, behavior
        The consolidation loss; see `consolidation.consolidation_loss`.
    alpha
        Its weight in ``L = L_DRL + alpha * L_BC`` (eq. 2), at least 0.
    buffer_size
        ``|B|``: units (one decoding step of one batch) the buffer holds.
    replay_size
        ``|E|``: units replayed at every step.
    replay_rows
        The fraction of a unit's instances replayed, in ``(0, 1]``; 1 in the paper. Fewer rows
        trade variance for work.
    buffer
        A registered buffer.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    """
    for name, value in (
        ("alpha", alpha),
        ("buffer_size", buffer_size),
        ("replay_size", replay_size),
    ):
        if not 0 <= value < math.inf:
            raise ConfigError(
                f"method 'llr-bc': {name}: expected at least 0 and finite, got {value}"
            )
    if not 0 < replay_rows <= 1:
        raise ConfigError(
            f"method 'llr-bc': replay_rows: expected a fraction in (0, 1], got {replay_rows}"
        )
    loss = consolidation_loss(weighting, divergence, behavior)
    memory = Memory(buffer, buffer_size)

    def loss_terms(learning: Learning, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        units = memory.sample(replay_size)  # algorithm 2, line "uniformly sample"
        if not units or not alpha:
            return
        chosen = [memory.rows(unit, replay_rows) for unit in units]
        teachers = [unit.log_probs(rows) for unit, rows in zip(units, chosen, strict=True)]
        weights = loss.weights(teachers)
        for group in batches_of_one_size(units, chosen, learning.solver.module):
            learners = behaviors(learning, [units[i] for i in group], [chosen[i] for i in group])
            shares = [
                loss.unit(weights[i], teachers[i], learner)
                for i, learner in zip(group, learners, strict=True)
            ]
            yield "consolidation", alpha * sum(shares[1:], start=shares[0])

    return Method(
        before_task=memory.start_task,
        observer=memory.observer,
        loss_terms=loss_terms,
        adopt=memory.adopt,
        state_dict=memory.state_dict,
        load_state_dict=memory.load_state_dict,
    )


class Memory:
    """The buffer, and the snapshot of it that the present task replays."""

    def __init__(self, kind: str, capacity: int) -> None:
        self.kind = kind
        self.capacity = capacity
        self.buffer: Buffer[PackedExperience] = registry.buffer(kind, capacity)
        self.snapshot: list[PackedExperience] = []
        self.adopted: list[PackedExperience] = []
        self.random = random.Random()

    def adopt(self, learning: Learning, state: Mapping[str, Any]) -> None:
        """Offer another run's experiences to the buffer before the first task.

        They are states of the problem, not of the network: any solver's will do.
        """
        if "buffer" not in state:
            raise ConfigError("buffer_from: expected a run with a buffer, got one without")
        units = from_state_dicts(state["buffer"]["items"], learning.problem, device_of(learning))
        self.adopted = [attrs.evolve(unit, task=ADOPTED) for unit in units]

    def start_task(self, learning: Learning) -> None:
        """Take the snapshot; seed everything before the first task."""
        if learning.task == 0:
            seed = python_seed(learning.seed, "buffer")
            self.buffer = registry.buffer(self.kind, self.capacity, seed=seed)
            self.random.seed(python_seed(learning.seed, "replay"))
            for unit in self.adopted:
                self.buffer.add(unit)
        self.snapshot = list(self.buffer)

    def observer(self, learning: Learning, instances: Any) -> Observer | None:
        """Record in the last epoch of a task, when the solver knows it best."""
        if not learning.last_epoch:
            return None

        def observe(state: Any, log_probs: Tensor) -> None:
            slot = self.buffer.admit()  # decided before anything is packed
            if slot is not None:
                self.buffer.put(slot, record(learning.task, instances, state, log_probs))

        return observe

    def sample(self, k: int) -> list[PackedExperience]:
        """Return ``min(k, len)`` units of the snapshot."""
        return self.random.sample(self.snapshot, min(k, len(self.snapshot)))

    def rows(self, unit: PackedExperience, fraction: float) -> Tensor | slice:
        """Return the instances of a unit to replay; at least one."""
        if fraction == 1:
            return slice(None)
        k = max(1, round(fraction * unit.rows))
        index = sorted(self.random.sample(range(unit.rows), k))
        return torch.tensor(index, device=unit.behavior.device)

    def state_dict(self) -> dict[str, Any]:
        """Return buffer, snapshot and random streams as plain data."""
        buffer = self.buffer.state_dict()
        held = len(buffer["items"])
        both = state_dicts([*buffer["items"], *self.snapshot])
        return {
            "buffer": {**buffer, "items": both[:held]},
            "snapshot": both[held:],
            "random": self.random.getstate(),
        }

    def load_state_dict(self, learning: Learning, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        held = len(state["buffer"]["items"])
        plain = [*state["buffer"]["items"], *state["snapshot"]]
        both = from_state_dicts(plain, learning.problem, device_of(learning))
        self.buffer.load_state_dict({**state["buffer"], "items": both[:held]})
        self.snapshot = both[held:]
        version, internal, gauss = state["random"]
        self.random.setstate((version, tuple(internal), gauss))


def device_of(learning: Learning) -> torch.device:
    """Return where the solver's parameters are."""
    return next(learning.solver.module.parameters()).device


def batches_of_one_size(
    units: list[PackedExperience], chosen: list[Tensor | slice], module: nn.Module
) -> list[list[int]]:
    """Group units, by index, that can share an encoder pass without outgrowing the CPU's caches.

    Where a batch is normalised as one, a unit gives what it gave only among its own.
    """
    if any(isinstance(part, nn.BatchNorm1d) for part in module.modules()):
        return [[i] for i in range(len(units))]
    groups: list[list[int]] = []
    room: dict[tuple[int, ...], int] = {}  # shape of a unit -> tokens left in its open group
    last: dict[tuple[int, ...], list[int]] = {}
    for i, unit in enumerate(units):
        shape = tuple(unit.behavior.shape[1:])
        tokens = count(unit, chosen[i]) * shape[-1]
        on_cpu = unit.behavior.device.type == "cpu"
        if shape not in last or (on_cpu and room[shape] < tokens):
            last[shape] = []
            groups.append(last[shape])
            room[shape] = CPU_TOKENS
        last[shape].append(i)
        room[shape] -= tokens
    return groups


def behaviors(
    learning: Learning, units: list[PackedExperience], chosen: list[Tensor | slice]
) -> list[Tensor]:
    """Return the learner's log-probs ``[B, S, A]`` on units of one size, in one encoder pass."""
    pairs = list(zip(units, chosen, strict=True))
    instances = records.concatenate([records.select(unit.instances, rows) for unit, rows in pairs])
    state = records.concatenate([unit.state(rows) for unit, rows in pairs])
    encoding = learning.solver.encode(instances)
    log_probs = learning.solver.log_probs(encoding, state)
    return list(log_probs.split([count(unit, rows) for unit, rows in pairs]))


def count(unit: PackedExperience, rows: Tensor | slice) -> int:
    """Return how many instances of a unit are chosen."""
    return len(rows) if isinstance(rows, Tensor) else unit.rows
