"""Experiences in little memory: masks as bits, indices in as few bytes as fit, behavior in half.

Half precision resolves a log-probability of -1 to 0.0005 and of -16 to 0.008, so the most a
probability is off by is 0.05 % where it matters; -inf marks an infeasible action and is exact.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import CheckpointError
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records
from lifelong_co.tensors.bit_packing import pack_bits, unpack_bits

BEHAVIOR = " behavior"
"""Where the behavior is; no tensor of a state has such a name."""


@attrs.frozen(eq=False)
class PackedExperience:
    """One decoding step of one batch; see `protocols.Experience`."""

    task: int
    instances: Any
    """The batch, shared by all its experiences."""
    state_type: type
    tensors: dict[str, Tensor] = attrs.field(factory=dict)
    """What `packed` returns; whoever keeps it may put equal ones elsewhere (`apart`)."""
    shapes: dict[str, Sequence[int]] = attrs.field(factory=dict)
    """Of the state's boolean tensors, which bits alone do not tell, but for the dimension ``B``."""
    pending: list[tuple[Any, Tensor]] = attrs.field(factory=list)
    """A state and its log-probabilities that are packed when they are first asked for."""

    @property
    def packed(self) -> dict[str, Tensor]:
        """The state's tensors, packed, and the behavior."""
        while self.pending:
            self._pack(*self.pending.pop())
        return self.tensors

    @property
    def behavior(self) -> Tensor:
        """Log-probabilities in half precision, ``[B, S, A]``."""
        return self.packed[BEHAVIOR]

    @property
    def states(self) -> dict[str, Tensor]:
        """The state's tensors, packed."""
        return {name: tensor for name, tensor in self.packed.items() if name != BEHAVIOR}

    @property
    def rows(self) -> int:
        """How many instances ``B`` the unit has."""
        return self.behavior.shape[0]

    @property
    def nbytes(self) -> int:
        """Memory of state and behavior, without the shared instances."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self.packed.values())

    def _pack(self, state: Any, log_probs: Tensor) -> None:
        integers = integers_for(log_probs.shape[2])
        for name, tensor in records.tensors(state).items():
            self.tensors[name] = pack(tensor, integers)
            if tensor.dtype == torch.bool:
                self.shapes[name] = tuple(tensor.shape[1:])
        self.tensors[BEHAVIOR] = log_probs.half()

    def state(self, rows: Tensor | slice = slice(None)) -> Any:
        """Return the state of the chosen instances, as it was."""
        return self.state_type(
            **{
                name: unpack(tensor[rows], self.shapes.get(name))
                for name, tensor in self.states.items()
            }
        )

    def log_probs(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """Return the behavior on the chosen instances, ``[B', S, A]``."""
        return self.behavior[rows].to(records.tensors(self.instances)["nodes"].dtype)


def record(task: int, instances: Any, state: Any, log_probs: Tensor) -> PackedExperience:
    """Pack the state of a batch and the behavior ``[B, S, A]`` the solver had there."""
    experience = note(task, instances, state, log_probs)
    experience.packed  # noqa: B018 - now, whatever becomes of the state
    return experience


def note(task: int, instances: Any, state: Any, log_probs: Tensor) -> PackedExperience:
    """Do as `record`, but pack when something is first asked for; until then nothing may change."""
    pending = [(state, log_probs.detach())]
    return PackedExperience(task, instances, type(state), pending=pending)


@functools.cache
def integers_for(actions: int) -> torch.dtype:
    """Return the smallest integers that hold the number of any action."""
    kinds = (torch.int8, torch.int16, torch.int32)
    return next(kind for kind in kinds if actions <= torch.iinfo(kind).max)


def pack(tensor: Tensor, integers: torch.dtype) -> Tensor:
    """Pack booleans to bits, those of a row together, and node indices to small integers."""
    if tensor.dtype == torch.bool:
        return pack_bits(tensor.reshape(len(tensor), -1))
    if not tensor.is_floating_point():
        return tensor.to(integers)
    return tensor.clone()  # a view would keep the whole batch alive


def unpack(tensor: Tensor, shape: Sequence[int] | None) -> Tensor:
    """Undo `pack`; the shape is that of booleans without ``B``, and None for everything else."""
    if shape is not None:
        return unpack_bits(tensor, math.prod(shape)).view(len(tensor), *shape)
    return tensor if tensor.is_floating_point() else tensor.long()


def state_dicts(experiences: list[PackedExperience]) -> list[dict[str, Any]]:
    """Return experiences as plain data; batches that were shared stay shared."""
    plain: dict[int, dict[str, Tensor]] = {}
    states = []
    for experience in experiences:
        key = id(experience.instances)
        plain.setdefault(key, records.tensors(experience.instances))
        states.append(
            {
                "task": experience.task,
                "instances": plain[key],
                "packed": experience.states,
                "shapes": experience.shapes,
                "behavior": experience.behavior,
            }
        )
    return states


def from_state_dicts(
    states: list[Mapping[str, Any]], problem: Problem, device: torch.device
) -> list[PackedExperience]:
    """Undo `state_dicts`, on a device; batches are told apart by the identity of their tensors.

    Raises
    ------
    CheckpointError
        If they are of a version that packed states otherwise.
    """
    batches: dict[tuple[int, ...], Any] = {}
    known: dict[int, PackedExperience] = {}  # one that was held twice comes back as one
    experiences = []
    for state in states:
        if "shapes" not in state:
            raise CheckpointError(
                "buffer: expected states packed row by row, got those of an older lifelong-co; "
                "the version that wrote them can read them"
            )
        fields, behavior = state["instances"], state["behavior"]
        key = tuple(map(id, fields.values()))
        if key not in batches:
            batches[key] = records.to(problem.instances_type(**fields), device)
        if id(behavior) not in known:
            known[id(behavior)] = PackedExperience(
                task=state["task"],
                instances=batches[key],
                state_type=problem.state_type,
                tensors={
                    name: tensor.to(device)
                    for name, tensor in {**state["packed"], BEHAVIOR: behavior}.items()
                },
                shapes=state["shapes"],
            )
        experiences.append(known[id(behavior)])
    return experiences
