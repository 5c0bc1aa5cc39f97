"""Rehearsal: old instances go on being learned, beside a light hold on old behavior.

``L = L_DRL + weight * L_DRL(replayed instances) + alpha * L_BC``. `llr_bc` alone keeps old tasks as
they were; it never improves them, and its hold costs plasticity. `feng` alone goes on improving old
tasks, but some forgetting stays. Here most of the work is done by replayed instances, and the hold
may be light, rare or absent.

The differences from `feng`: one past task is replayed at a time, so the cost of a step does not
grow with the number of tasks; a replayed instance is one of its eight images, drawn anew each time,
so that a store is worth eight times as many instances; and ``L_BC`` is added.
"""

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
    alpha: float = 0.0,
    alpha_unit: str = "absolute",
    weighting: str = "variance",
    hold_every: int = 2,
    buffer_size: int = 1000,
    replay_size: int = 32,
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
    alpha, alpha_unit, weighting, buffer_size, replay_size
        The hold, as in `llr_bc.llr_bc`; its replay is that of preset ``small``. With ``alpha`` 0
        nothing is recorded.
    hold_every
        Steps between two steps with the hold, at least 1; its weight is ``alpha * hold_every``.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If a name is unknown.
    """
    at_least_zero("rehearsal", {"weight": weight, "instances": instances})
    at_least_one("rehearsal", {"every": every, "hold_every": hold_every})
    fraction("rehearsal", {"share": share})
    held = llr_bc(
        alpha=alpha,
        alpha_unit=alpha_unit,
        weighting=weighting,
        behavior="probabilities",
        buffer_size=buffer_size if alpha else 0,
        replay_size=replay_size,
        replay_rows=1 / 16,
        bundle_size=4,
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
        if weight and learner.task and step % every == 0:
            task = step // every % learner.task
            batch = memory.sample(learner, task, share)
            if batch is not None:
                loss = replayed.loss(learner, one_image(learner, batch), f"of task {task}")
                yield "replay", weight * loss

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
    """Return one image of each instance, drawn uniformly from those of `Problem.augment`."""
    B, device = records.rows(batch), records.device(batch)
    place = f"images {learner.task} {learner.epoch} {learner.batch}"
    stream = generator(learner.seed, place, device)
    images = learner.problem.augment(batch)
    chosen = torch.randint(records.rows(images) // B, (B,), generator=stream, device=device)
    return records.select(images, chosen * B + torch.arange(B, device=device))
