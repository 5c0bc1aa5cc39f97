"""Rehearsal: stored instances of past tasks go on being learned, and their best solutions are kept.

``L = L_DRL + weight * L_DRL(replayed) + imitation * g * mean(1[argmax p != a] * -log p(a))``

- The second term is that of `feng`, for one past task at a time: so the cost of a step does not
  grow with the number of tasks.
- The third term keeps the greedy choices, which the second does not see: a solver can get better by
  its samples and worse by its greedy solutions. ``a`` are the actions of the best solution known of
  each replayed instance (self-imitation learning, arXiv 1806.05635): the greedy one after its task,
  or a better one that the second term has sampled since (as in LiDER, arXiv 2009.13736). Only
  decisions where the most likely action is another one count. The mean is over all steps of the
  batch; a step in which a finished solution waits for longer ones counts as 0.
  ``g`` is the average norm of the policy's gradient (`weight_unit`).
- A replayed instance is one of its eight images, drawn anew each time.
- The log has the second and the third term together, as ``replay``.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from lifelong_co.protocols import LearnerState, Method, Rollout, Solver
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.validators import at_least_one, at_least_zero, fraction
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.objective import ReplayObjective, SolvesEncoded
from lifelong_co_plugins.methods.instance_replay.solutions import behavior_along
from lifelong_co_plugins.methods.instance_replay.solved import SolvedTasks
from lifelong_co_plugins.methods.instance_replay.turns import past_task
from lifelong_co_plugins.methods.kept import Kept
from lifelong_co_plugins.methods.regularization.weight_unit import GradientNorm


def rehearsal(
    weight: float = 0.5,
    share: float = 0.375,
    every: int = 1,
    instances: int = 1000,
    imitation: float = 0.3,
) -> Method:
    """Return a method that goes on learning stored instances and keeps their best solutions.

    Parameters
    ----------
    weight
        Weight of the loss on replayed instances, at least 0.
    share
        Size of a replayed batch as a fraction of the batch size of its task, in ``(0, 1]``.
    every
        Steps between two replayed batches, at least 1; the past tasks take turns, see
        `turns.past_task`.
    instances
        Instances kept of each seen task, at least 0.
    imitation
        Weight of the imitation of the best solutions, at least 0, in units of the norm of
        the policy's gradient.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    """
    numbers = {"weight": weight, "instances": instances, "imitation": imitation}
    at_least_zero("method 'rehearsal'", numbers)
    at_least_one("method 'rehearsal'", {"every": every})
    fraction("method 'rehearsal'", {"share": share})
    memory, objective = InstanceMemory(instances), ReplayObjective()
    solutions, unit = SolvedTasks(), GradientNorm()

    def before_epoch(learner: LearnerState) -> None:
        if imitation and learner.epoch == 0:
            solutions.solve(learner, memory)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        norm = unit.note(learner) if imitation else 0.0
        step = learner.step_of(learner.task)
        if not learner.task or step % every:
            return
        present = learner.tasks[learner.task]
        turns = math.ceil(present.epochs * present.batches / every)
        task = past_task(learner, step // every, turns)
        places = memory.places(learner, task, share)
        if not places:
            return
        batch = one_image(learner, memory.take(task, places))

        def parts() -> Iterator[Tensor]:
            encoding = learner.solver.encode(batch) if imitation else None
            if imitation:
                forced = solutions.forced(learner.solver, batch)
                actions = solutions.take(task, places)
                lost = mismatch(learner.solver, batch, encoding, actions, forced)
                yield imitation * norm * lost
            if weight:
                loss, found = objective.sample(learner, batch, f"of task {task}", encoding)
                if imitation:
                    solutions.improve(task, places, found)
                yield weight * loss

        if weight and imitation and isinstance(learner.solver, SolvesEncoded):
            # Both parts share an encoding, so one backward pass is for both.
            yield "replay", torch.stack([*parts()]).sum()
        else:  # one graph after the other takes less memory
            yield from (("replay", part) for part in parts())

    kept = Kept(memory=memory, objective=objective, solutions=solutions, gradient_norm=unit)
    return Method(
        before_task=objective.before_task,
        before_epoch=before_epoch,
        instances=memory.draw,
        loss_terms=loss_terms,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


def mismatch(solver: Solver, instances: Any, encoding: Any, actions: Tensor, forced: int) -> Tensor:
    """Return how unlikely wrong decisions make given solutions, in nats, a scalar of at least 0.

    It is the mean over all steps of ``-log p(a)``, with 0 where ``a`` is the most likely action, or
    has no probability. The steps in which a finished solution waits for longer ones count as 0.

    Parameters
    ----------
    encoding
        That of the instances.
    actions
        Solutions ``a`` of the instances, long ``[b, s, T]``.
    forced
        How many of their first actions are forced, so that they are no decisions.
    """
    log_probs = behavior_along(solver, instances, encoding, actions, forced)  # [b, s, t, A]
    wanted = actions[..., forced:]
    chosen = log_probs.gather(3, wanted[..., None]).squeeze(3)
    # INViT allows the nearest nodes only. If several are equally near, rounding in an image can
    # select other ones, so that a stored action has no probability.
    no_loss = (log_probs.argmax(dim=3) == wanted) | chosen.isneginf()
    return -chosen.masked_fill(no_loss, 0.0).mean()


def one_image(learner: LearnerState, batch: Any) -> Any:
    """Return one image of each instance, drawn uniformly from those of `Problem.augment`."""
    B, device = records.rows(batch), records.device(batch)
    place = f"images {learner.task} {learner.epoch} {learner.batch}"
    stream = generator(learner.seed, place, device)
    images = learner.problem.augment(batch)
    chosen = torch.randint(records.rows(images) // B, (B,), generator=stream, device=device)
    return records.select(images, chosen * B + torch.arange(B, device=device))
