"""Packed experiences: masks as bits, node indices as small integers, behavior in half precision.

Of the behavior only feasible actions are kept (`behavior_packing`).

Half precision resolves a log-probability of -1 to 0.0005 and of -16 to 0.008, so a probability
above 0.14 is off by at most 0.05 %. An infeasible action is -inf, which is exact. What a network in
double precision computes is kept in double precision.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import CheckpointError
from lifelong_co.protocols import Problem
from lifelong_co.replay.behavior_packing import pack_behavior, unpack_behavior
from lifelong_co.replay.state_packing import integers_for, pack, unpack
from lifelong_co.tensors import records

BEHAVIOR = " behavior"
"""Key of the behavior among the packed tensors; no tensor of a state has this name."""
FEASIBLE = " feasible"
"""Key of the bits of the actions that the behavior has values of."""
QUERY = " query "
"""Start of the keys of recorded queries among the packed tensors; the role follows."""


@attrs.frozen(eq=False)
class PackedExperience:
    """One decoding step of one batch; see `protocols.Experience`."""

    task: int
    instances: Any
    """The batch, shared by all its experiences."""
    state_type: type
    packed: dict[str, Tensor]
    """The packed tensors of the state, of the behavior, and recorded queries."""
    shapes: dict[str, Sequence[int]]
    """Shapes without the dimension ``B`` of the state's boolean tensors and of the behavior."""

    @property
    def behavior(self) -> Tensor:
        """Log-probabilities in half precision (of a double network: double), ``[B, S, A]``."""
        return self._behavior(slice(None))

    def _behavior(self, rows: Tensor | slice) -> Tensor:
        packed = self.packed[BEHAVIOR][rows], self.packed[FEASIBLE][rows]
        return unpack_behavior(*packed, self.trajectories_and_actions)

    @property
    def states(self) -> dict[str, Tensor]:
        """The packed tensors of the state."""
        return {name: tensor for name, tensor in self.packed.items() if not name.startswith(" ")}

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of nodes whose queries were recorded; see `queries`."""
        return tuple(name.removeprefix(QUERY) for name in self.packed if name.startswith(QUERY))

    @property
    def rows(self) -> int:
        """The number ``B`` of instances."""
        return self.packed[BEHAVIOR].shape[0]

    @property
    def trajectories_and_actions(self) -> tuple[int, int]:
        """``S`` and ``A`` of the behavior."""
        trajectories, actions = self.shapes[BEHAVIOR]
        return trajectories, actions

    @property
    def device(self) -> torch.device:
        """Where the packed tensors are."""
        return self.packed[BEHAVIOR].device

    @property
    def nbytes(self) -> int:
        """Bytes of state and behavior, without the shared instances."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self.packed.values())

    def state(self, rows: Tensor | slice = slice(None)) -> Any:
        """Return the state of the chosen instances."""
        return self.state_type(
            **{
                name: unpack(tensor[rows], self.shapes.get(name))
                for name, tensor in self.states.items()
            }
        )

    def log_probs(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """Return the behavior on the chosen instances, ``[b, S, A]``."""
        return self._behavior(rows).to(self.precision)

    def queries(self, rows: Tensor | slice = slice(None)) -> dict[str, Tensor]:
        """Return each role's recorded queries on the chosen instances, ``[b, A, width]``."""
        return {role: self.packed[QUERY + role][rows].to(self.precision) for role in self.roles}

    def of_task(self, task: int) -> "PackedExperience":
        """Return the state and behavior, without queries, under the index of another task."""
        own = {name: self.packed[name] for name in (BEHAVIOR, FEASIBLE)}
        return attrs.evolve(self, task=task, packed={**self.states, **own})

    @property
    def precision(self) -> torch.dtype:
        """The floating-point type of the instances."""
        fields = records.tensors(self.instances).values()
        return next(field.dtype for field in fields if field.is_floating_point())


def record(
    task: int,
    instances: Any,
    state: Any,
    log_probs: Tensor,
    queries: Mapping[str, Tensor] | None = None,
) -> PackedExperience:
    """Pack the state of a batch and the behavior ``[B, S, A]`` that the solver had there.

    ``queries`` are those of nodes in some roles, ``[B, A, width]``, to be replayed as they were.
    """
    integers = integers_for(log_probs.shape[2])
    tensors = records.tensors(state)
    values, feasible = pack_behavior(halved(log_probs))
    return PackedExperience(
        task=task,
        instances=instances,
        state_type=type(state),
        packed={
            **{name: pack(tensor, integers, name) for name, tensor in tensors.items()},
            BEHAVIOR: values,
            FEASIBLE: feasible,
            **{QUERY + role: halved(table) for role, table in (queries or {}).items()},
        },
        shapes={
            **{
                name: tuple(tensor.shape[1:])
                for name, tensor in tensors.items()
                if tensor.dtype == torch.bool
            },
            BEHAVIOR: tuple(log_probs.shape[1:]),
        },
    )


def halved(tensor: Tensor) -> Tensor:
    """Return a tensor in half precision, or unchanged if it is in double precision."""
    return tensor.detach() if tensor.dtype == torch.float64 else tensor.detach().half()


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
                "behavior": experience.packed[BEHAVIOR],
                "feasible": experience.packed[FEASIBLE],
                **{QUERY + role: experience.packed[QUERY + role] for role in experience.roles},
            }
        )
    return states


def plain_behavior(state: Mapping[str, Any]) -> Tensor:
    """Return the behavior ``[B, S, A]`` of an experience that is plain data (`state_dicts`)."""
    if "feasible" not in state:  # older versions kept all actions
        return cast(Tensor, state["behavior"])
    trajectories, actions = state["shapes"][BEHAVIOR]
    return unpack_behavior(state["behavior"], state["feasible"], (trajectories, actions))


def from_state_dicts(
    states: list[Mapping[str, Any]], problem: Problem, device: torch.device
) -> list[PackedExperience]:
    """Undo `state_dicts`, on a device; states with identical instance tensors share one batch.

    Raises
    ------
    CheckpointError
        If an older version wrote them, which packed states in another way.
    """
    batches: dict[tuple[int, ...], Any] = {}
    known: dict[int, PackedExperience] = {}  # by behavior: held twice, read once
    experiences = []
    for state in states:
        if "feasible" not in state:
            raise CheckpointError(
                "buffer: expected behaviors of feasible actions only, got those of an older "
                "lifelong-co; read them with the version that wrote them"
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
                packed={
                    name: tensor.to(device)
                    for name, tensor in {
                        **state["packed"],
                        BEHAVIOR: behavior,
                        FEASIBLE: state["feasible"],
                        **{name: state[name] for name in state if name.startswith(QUERY)},
                    }.items()
                },
                shapes=state["shapes"],
            )
        experiences.append(known[id(behavior)])
    return experiences
