"""Feng et al. 2025, "Lifelong Learner" (arXiv 2508.11679), as the paper adapts it.

Cross-context experience replay under the dynamic context scheduler: every past task is learned
beside the present task, at a fifth of its pace, so replay grows with the number of tasks:
``L = L_DRL + alpha * L_DRL(replayed)``. The fifth comes from the authors' code
(fsdfsd123/Lifelong-Learner-…, ``train_num_episode_params``: in each epoch 100,000 instances of the
present context and 20,000 of each earlier context).

The paper's adaptation (appendix "Baselines"): past tasks cannot be generated again, so a reservoir
of 200 instances is kept for each seen task, and replay draws from it. The learnable ``n x n``
matrix **B** is removed, because it fixes the problem size. ``alpha`` is 0.5, "arbitrarily".

The paper's code of this method is not public, and the paper does not say what ``alpha`` weighs. Our
choices are:

- ``alpha`` weighs the replayed loss. In the authors' code the replayed loss has weight 1, and there
  is a regulariser, ``|g (K - K_past)|_1`` of the encoder's mean key matrix. It belongs to their
  network (inter-context self-attention). A method here cannot find the keys among a solver's
  parameters, so the regulariser is left out with **B**.
- Their code takes one step per context, in turn. Here the replayed batch is part of the present
  step: past task ``j`` is replayed in each step ``s`` of a task with ``s = j`` modulo 5. Updates
  and fresh instances are those of fine-tuning; replay is added, as in their code.
- A replayed batch has the batch size of its task, or is smaller if the reservoir holds less.
"""

from collections.abc import Iterable

from torch import Tensor

from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.validators import at_least_one, at_least_zero
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.objective import ReplayObjective
from lifelong_co_plugins.methods.kept import Kept


def feng(alpha: float = 0.5, buffer_size: int = 200, every: int = 5) -> Method:
    """Return a method that learns stored instances of every past task along with the new ones.

    Parameters
    ----------
    alpha
        Weight of the loss on replayed instances, at least 0.
    buffer_size
        Instances kept per seen task, at least 0; with 0 nothing is replayed.
    every
        Steps of the present task for one replayed batch of each past task, at least 1.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    """
    at_least_zero("method 'feng'", {"alpha": alpha, "buffer_size": buffer_size})
    at_least_one("method 'feng'", {"every": every})
    memory, replayed = InstanceMemory(buffer_size), ReplayObjective()

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        step = learner.step_of(learner.task)
        for task in scheduled(step, learner.task, every) if alpha else ():
            batch = memory.sample(learner, task)
            if batch is not None:
                yield "replay", alpha * replayed.loss(learner, batch, f"of task {task}")

    kept = Kept(memory=memory, objective=replayed)
    return Method(
        before_task=replayed.before_task,
        instances=memory.draw,
        loss_terms=loss_terms,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


def scheduled(step: int, past: int, every: int) -> list[int]:
    """Return which of the ``past`` first tasks are replayed in a step of the present task."""
    return [task for task in range(past) if (step - task) % every == 0]
