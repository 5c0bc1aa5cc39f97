"""Rehearsal: stored instances of past tasks go on being learned, a few in each step.

``L = L_DRL + weight * L_DRL(replayed instances)``. `llr_bc` keeps old tasks as they were; it never
improves them, and what holds old behavior costs plasticity. Here old tasks go on improving.

The differences from `feng`: one past task is replayed at a time, so the cost of a step does not
grow with the number of tasks; and a replayed instance is one of its eight images, drawn anew each
time, so that a store is worth eight times as many instances.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.validators import at_least_one, at_least_zero, fraction
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.objective import ReplayObjective


def rehearsal(
    weight: float = 0.5, share: float = 0.5, every: int = 1, instances: int = 2000
) -> Method:
    """Return the method.

    Parameters
    ----------
    weight
        Weight of the loss on replayed instances, at least 0.
    share
        Size of a replayed batch as a fraction of the batch size of its task, in ``(0, 1]``.
    every
        Steps between two replayed batches, at least 1; the past tasks take turns.
    instances
        Instances kept of each seen task, at least 0.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    """
    at_least_zero("rehearsal", {"weight": weight, "instances": instances})
    at_least_one("rehearsal", {"every": every})
    fraction("rehearsal", {"share": share})
    memory, objective = InstanceMemory(instances), ReplayObjective()

    def draw(learner: LearnerState) -> Any:
        batch = learner.draw(learner.task)
        memory.offer(learner, batch)
        return batch

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        step = learner.step_of(learner.task)
        if weight and learner.task and step % every == 0:
            task = step // every % learner.task
            batch = memory.sample(learner, task, share)
            if batch is not None:
                loss = objective.loss(learner, one_image(learner, batch), f"of task {task}")
                yield "replay", weight * loss

    def state_dict() -> dict[str, Any]:
        return {"memory": memory.state_dict(), "objective": objective.state_dict()}

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        memory.load_state_dict(learner, state["memory"])
        objective.load_state_dict(learner, state["objective"])

    return Method(
        before_task=objective.before_task,
        instances=draw,
        loss_terms=loss_terms,
        state_dict=state_dict,
        load_state_dict=load_state_dict,
    )


def one_image(learner: LearnerState, batch: Any) -> Any:
    """Return one image of each instance, drawn uniformly from those of `Problem.augment`."""
    B, device = records.rows(batch), records.device(batch)
    place = f"images {learner.task} {learner.epoch} {learner.batch}"
    stream = generator(learner.seed, place, device)
    images = learner.problem.augment(batch)
    chosen = torch.randint(records.rows(images) // B, (B,), generator=stream, device=device)
    return records.select(images, chosen * B + torch.arange(B, device=device))
