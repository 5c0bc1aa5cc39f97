"""The learner's behavior in buffered states, in as few encoder passes as is fast."""

from torch import Tensor, nn

from lifelong_co.protocols import LearnerState
from lifelong_co.replay.experience import PackedExperience
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import normalises_over_batch

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

    Those of one group have one size; bundles stay together. Where a batch is normalised as one, a
    unit gives what it gave only among its own.
    """
    own = bundles(units, chosen)
    if normalises_over_batch(module):
        return own
    groups: list[list[int]] = []
    room: dict[tuple[int, ...], int] = {}  # shape of a unit -> tokens left in its open group
    last: dict[tuple[int, ...], list[int]] = {}
    for bundle in own:
        unit, rows = units[bundle[0]], chosen[bundle[0]]
        shape = tuple(unit.behavior.shape[1:])
        tokens = count(unit, rows) * shape[-1]
        on_cpu = unit.behavior.device.type == "cpu"
        if shape not in last or (on_cpu and room[shape] < tokens):
            last[shape] = []
            groups.append(last[shape])
            room[shape] = CPU_TOKENS
        last[shape].extend(bundle)
        room[shape] -= tokens
    return groups


def bundles(units: list[PackedExperience], chosen: list[Tensor | slice]) -> list[list[int]]:
    """Group neighbors, by index, that are steps of the same instances: one encoding for each."""
    found: list[list[int]] = []
    for i, (unit, rows) in enumerate(zip(units, chosen, strict=True)):
        if found and units[i - 1].instances is unit.instances and chosen[i - 1] is rows:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def behaviors(
    learner: LearnerState, units: list[PackedExperience], chosen: list[Tensor | slice]
) -> list[Tensor]:
    """Return the learner's log-probs ``[B, S, A]`` on units of one size, in one encoder pass."""
    own = bundles(units, chosen)
    firsts = [bundle[0] for bundle in own]
    encoding = learner.solver.encode(
        records.concatenate([records.select(units[i].instances, chosen[i]) for i in firsts])
    )
    sizes = [count(units[i], chosen[i]) for i in firsts]
    found: dict[int, Tensor] = {}
    for j in range(max(map(len, own))):
        # A bundle that has no such step repeats its last: an encoding is decoded as a whole.
        step = [bundle[min(j, len(bundle) - 1)] for bundle in own]
        state = records.concatenate([units[i].state(chosen[i]) for i in step])
        log_probs = learner.solver.log_probs(encoding, state).split(sizes)
        found.update((i, each) for i, each in zip(step, log_probs, strict=True) if i not in found)
    return [found[i] for i in range(len(units))]


def count(unit: PackedExperience, rows: Tensor | slice) -> int:
    """Return how many instances of a unit are chosen."""
    return len(rows) if isinstance(rows, Tensor) else unit.rows
