"""Rehearsal: a light hold on old behavior, while old instances go on being learned."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.validators import at_least_one, at_least_zero, fraction
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.objective import ReplayObjective
from lifelong_co_plugins.methods.llr_bc import llr_bc


def rehearsal(
    weight: float = 0.5,
    share: float = 0.5,
    every: int = 1,
    instances: int = 2000,
    images: bool = True,
    hold_every: int = 1,
    alpha: float = 0.05,
    alpha_unit: str = "absolute",
    weighting: str = "variance",
    buffer_size: int = 1000,
    replay_size: int = 32,
    replay_rows: float = 1 / 16,
    bundle_size: int = 4,
) -> Method:
    at_least_zero("rehearsal", {"weight": weight, "instances": instances})
    at_least_one("rehearsal", {"every": every, "hold_every": hold_every})
    fraction("rehearsal", {"share": share})
    held = llr_bc(
        alpha=alpha,
        alpha_unit=alpha_unit,
        weighting=weighting,
        behavior="probabilities",
        buffer_size=buffer_size,
        replay_size=replay_size,
        replay_rows=replay_rows,
        bundle_size=bundle_size,
    )
    memory, replayed = InstanceMemory(instances), ReplayObjective()

    def before_task(learner: LearnerState) -> None:
        held.before_task(learner)
        replayed.before_task(learner)

    def draw(learner: LearnerState) -> Any:
        batch = learner.draw(learner.task)
        memory.offer(learner, batch)
        return batch

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        step = learner.step_of(learner.task)
        if step % hold_every == 0:
            for name, term in held.loss_terms(learner, rollout):
                yield name, hold_every * term
        if step % every or not weight or not learner.task:
            return
        task = (step // every) % learner.task
        batch = memory.sample(learner, task, share)
        if batch is not None:
            if images:
                batch = one_image(learner, batch)
            yield "replay", weight * replayed.loss(learner, batch, f"of task {task}")

    def state_dict() -> dict[str, Any]:
        return {
            "hold": held.state_dict(),
            "memory": memory.state_dict(),
            "objective": replayed.state_dict(),
        }

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        held.load_state_dict(learner, state["hold"])
        memory.load_state_dict(learner, state["memory"])
        replayed.load_state_dict(learner, state["objective"])

    return attrs.evolve(
        held,
        before_task=before_task,
        instances=draw,
        loss_terms=loss_terms,
        state_dict=state_dict,
        load_state_dict=load_state_dict,
    )


def one_image(learner: LearnerState, batch: Any) -> Any:
    """Return one image of each instance, drawn uniformly from the eight of `Problem.augment`."""
    B, device = records.rows(batch), records.device(batch)
    place = f"images {learner.task} {learner.epoch} {learner.batch}"
    stream = generator(learner.seed, place, device)
    eight = learner.problem.augment(batch)
    images = records.rows(eight) // B
    chosen = torch.randint(images, (B,), generator=stream, device=device)
    return records.select(eight, chosen * B + torch.arange(B, device=device))
