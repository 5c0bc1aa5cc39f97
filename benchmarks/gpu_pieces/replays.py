"""Replayed experiences on a device beside the CPU's: what was recorded, and the behavior now."""

import copy
from typing import Any

import torch
from gpu_pieces.rollouts import Difference, largest
from lifelong_co_plugins.methods.experience_replay.behaviors import behavior
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle, from_plain, to_plain
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle
from torch import Tensor

from lifelong_co.replay.experience import PackedExperience, record
from lifelong_co.seeding import generator
from lifelong_co.tensors import records


def replay(reference: Any, solver: Any, instances: Any) -> Difference:
    """Record on the CPU, move it to the solver's device, and compare what is replayed.

    ``actions`` is 1 if the recorded behavior is the same to the bit; ``likelihood`` is the largest
    difference of the log-probabilities of feasible actions.
    """
    weight = next(solver.module.parameters())
    here = copy.deepcopy(reference)
    here.module.to(weight.dtype)
    bundles = bundled(here, records.transform(instances, lambda x: x.to(weight.dtype)))
    there = from_plain(to_plain(bundles), solver.problem, weight.device)
    expected, found = chosen(bundles), chosen(there)
    with torch.no_grad():
        want, got = behavior(here, expected), behavior(solver, found).cpu()
    same = torch.equal(found.teacher.cpu(), expected.teacher) and torch.equal(
        got.isfinite(), want.isfinite()
    )
    off = (got.double() - want.double()).abs()[want.isfinite()]
    return Difference(actions=float(same), cost=0.0, likelihood=largest(off))


def bundled(solver: Any, instances: Any) -> list[Bundle]:
    """Return one, two and three steps of a rollout."""
    steps: list[PackedExperience] = []

    def observe(state: Any, log_probs: Tensor) -> None:
        steps.append(record(0, instances, state, log_probs))

    with torch.no_grad():
        solver.rollout(instances, "sample", generator=generator(0, "actions"), observe=observe)
    return [Bundle(0, tuple(part)) for part in (steps[:1], steps[1:3], steps[3:6])]


def chosen(bundles: list[Bundle]) -> Replayed:
    """Return the bundles with some of their rows."""
    rows = (torch.tensor([1]), torch.tensor([0, 1]), torch.tensor([0]))
    pairs = zip(bundles, rows, strict=True)
    return Replayed(tuple(ReplayedBundle(b.steps, r.to(b.steps[0].device)) for b, r in pairs))
