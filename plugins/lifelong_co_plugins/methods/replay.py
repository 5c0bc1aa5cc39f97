"""The learner's behavior in buffered states, in as few encoder passes as is fast."""

from torch import Tensor, nn

from lifelong_co import records
from lifelong_co.batch_norms import normalises_over_batch
from lifelong_co.experience import PackedExperience
from lifelong_co.protocols import Learning

# Tokens of one replay pass on the CPU, where larger temporaries cost more than they save.
CPU_TOKENS = 2048


def share_of_rows(module: nn.Module, asked: float) -> float:
    """Return the share of a unit's instances to replay: what was asked for, or all.

    All where the network normalises over the batch: the behavior that was recorded there is that of
    the whole unit, and a part of it would have another even with the parameters of then.
    """
    return 1.0 if normalises_over_batch(module) else asked


def batches_of_one_size(
    units: list[PackedExperience], chosen: list[Tensor | slice], module: nn.Module
) -> list[list[int]]:
    """Group units, by index, that can share an encoder pass without outgrowing the CPU's caches.

    Where a batch is normalised as one, a unit gives what it gave only among its own.
    """
    if normalises_over_batch(module):
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


def batches_of_one_rollout(
    units: list[PackedExperience], chosen: list[Tensor | slice]
) -> list[list[int]]:
    """Group steps, by index, of the same instances: one encoder pass serves them all."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, (unit, rows) in enumerate(zip(units, chosen, strict=True)):
        groups.setdefault((id(unit.instances), id(rows)), []).append(i)
    return list(groups.values())


def behaviors_of_one_rollout(
    learning: Learning, units: list[PackedExperience], chosen: list[Tensor | slice]
) -> list[Tensor]:
    """Return the learner's log-probs ``[B, S, A]`` on steps of the same instances."""
    encoding = learning.solver.encode(records.select(units[0].instances, chosen[0]))
    return [
        learning.solver.log_probs(encoding, unit.state(rows))
        for unit, rows in zip(units, chosen, strict=True)
    ]


def count(unit: PackedExperience, rows: Tensor | slice) -> int:
    """Return how many instances of a unit are chosen."""
    return len(rows) if isinstance(rows, Tensor) else unit.rows
