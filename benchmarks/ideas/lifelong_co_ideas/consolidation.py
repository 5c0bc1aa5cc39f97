"""Ideas for `llr-bc`: when its consolidation loss counts, and for which states."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

import attrs
import torch
from lifelong_co_plugins.methods import llr_bc
from lifelong_co_plugins.methods.experience_replay.behaviors import behavior
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from lifelong_co_plugins.methods.instance_replay.memory import by_shape
from lifelong_co_plugins.methods.instance_replay.solved import best_of
from torch import Tensor

from lifelong_co.protocols import LearnerState, Method, Rollout, Solver
from lifelong_co.replay.behavior_packing import pack_behavior
from lifelong_co.replay.experience import BEHAVIOR, FEASIBLE, PackedExperience, halved
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import device_of, evaluating
from lifelong_co_ideas.together import of_demo


def loosening() -> Method:
    """Return `llr-bc` whose weight falls with its loss.

    The weight is multiplied by the average loss of the last ten steps or so, over the highest such
    average of the task.
    """
    whole = of_demo("llr-bc")
    seen = {"loss": 0.0, "highest": 0.0, "steps": 0}

    def before_task(learner: LearnerState) -> None:
        whole.before_task(learner)
        seen.update(loss=0.0, highest=0.0, steps=0)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterator[tuple[str, Tensor]]:
        for name, term in whole.loss_terms(learner, rollout):
            seen["loss"] = 0.9 * seen["loss"] + 0.1 * term.item()
            seen["steps"] += 1
            average = seen["loss"] / (1 - 0.9 ** seen["steps"])
            seen["highest"] = max(seen["highest"], average)
            share = average / seen["highest"] if seen["highest"] else 1.0
            yield name, share * term

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        whole.load_state_dict(learner, state["whole"])
        seen.update(state["seen"])

    return attrs.evolve(
        whole,
        before_task=before_task,
        loss_terms=loss_terms,
        state_dict=lambda: {"whole": whole.state_dict(), "seen": dict(seen)},
        load_state_dict=load_state_dict,
    )


def where_worse() -> Method:
    """Return `llr-bc` that holds only the instances that the solver solves worse than its teacher.

    What counts is the greedy cost of the whole instance. That of the teacher is from the end of the
    task in whose last epoch the behavior was recorded.
    """
    return by_cost(overwrite=False)


def overwritten() -> Method:
    """Return `llr-bc` that overwrites stored behaviors where the present solver is better.

    What counts is the greedy cost, as in `where_worse`. The behavior of all trajectories is
    overwritten; the states stay those of the past solver.
    """
    return by_cost(overwrite=True)


def by_cost(*, overwrite: bool) -> Method:
    """Return `llr-bc` that compares the greedy cost of replayed instances with the stored one."""
    costs: WeakKeyDictionary[PackedExperience, Tensor] = WeakKeyDictionary()
    memories: list[Memory] = []

    def made(*arguments: Any, **options: Any) -> Memory:
        memories.append(Memory(*arguments, **options))
        return memories[-1]

    def weights(*arguments: Any) -> Any:
        own = Weights(*arguments)

        def replayed(learner: LearnerState, bundles: Sequence[Bundle]) -> Replayed:
            found = own.replayed(learner, bundles)
            now = solved(learner.solver, [bundle.instances for bundle in found.bundles])
            change = partial(improved, own, learner.solver) if overwrite else held
            pairs = zip(found.bundles, now, strict=True)
            return attrs.evolve(found, bundles=tuple(change(costs, *pair) for pair in pairs))

        return SimpleNamespace(replayed=replayed)

    with patch.multiple(llr_bc, Memory=made, Weights=weights):
        whole = of_demo("llr-bc")
    [memory] = memories

    def before_task(learner: LearnerState) -> None:
        whole.before_task(learner)
        new = [b.steps[0] for b in memory.snapshot if b.steps[0] not in costs]
        costs.update(zip(new, solved(learner.solver, [s.instances for s in new]), strict=True))

    def state_dict() -> dict[str, Any]:
        return {"whole": whole.state_dict(), "costs": [costs[b.steps[0]] for b in memory.snapshot]}

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        whole.load_state_dict(learner, state["whole"])
        device = device_of(learner.solver.module)
        for bundle, cost in zip(memory.snapshot, state["costs"], strict=True):
            costs[bundle.steps[0]] = cost.to(device)

    return attrs.evolve(
        whole, before_task=before_task, state_dict=state_dict, load_state_dict=load_state_dict
    )


@torch.no_grad()
def solved(solver: Solver, batches: Sequence[Any]) -> list[Tensor]:
    """Return the greedy cost ``[B]`` of each instance of each batch; each batch is solved once."""
    different = [*{id(batch): batch for batch in batches}.values()]
    found: dict[int, Tensor] = {}
    with evaluating(solver.module):
        for places in by_shape(different).values():
            alike = [different[place] for place in places]
            cost, _ = best_of(solver.rollout(records.concatenate(alike), "greedy"))
            parts = cost.split([records.rows(batch) for batch in alike])
            found |= {id(batch): part for batch, part in zip(alike, parts, strict=True)}
    return [found[id(batch)].clone() for batch in batches]


def held(
    costs: Mapping[PackedExperience, Tensor], bundle: ReplayedBundle, now: Tensor
) -> ReplayedBundle:
    """Return a bundle in which only the instances count that now cost more than is stored."""
    worse = now > costs[bundle.steps[0]][bundle.rows]
    return attrs.evolve(bundle, weights=tuple(w * worse[:, None] for w in bundle.weights))


@torch.no_grad()
def improved(
    weights: Weights,
    solver: Solver,
    costs: Mapping[PackedExperience, Tensor],
    bundle: ReplayedBundle,
    now: Tensor,
) -> ReplayedBundle:
    """Overwrite the stored behaviors and costs of the instances that now cost less."""
    cost = costs[bundle.steps[0]]
    better = now < cost[bundle.rows]
    rows = torch.arange(len(cost), device=cost.device)[bundle.rows][better]
    if len(rows):
        cost[rows] = now[better]
        present = behavior(solver, Replayed((bundle,))).split(bundle.count)
        for step, log_probs in zip(bundle.steps, present, strict=True):
            whole = step.log_probs()
            whole[rows] = log_probs[better]
            step.packed[BEHAVIOR], step.packed[FEASIBLE] = pack_behavior(halved(whole))
            weights.known.pop(step, None)  # the weight follows from the behavior
    return bundle
