"""Li et al. 2024, "cross-size generalization … via continual learning", as the paper adapts it.

The method keeps the past in two ways (their abstract): it revisits instances of past tasks, and it
regularises the learner towards an exemplar, ``L = L_DRL + alpha * D``. ``D`` is the mean of
``KL(P_exemplar || P_theta)`` over the states of the rollout. The exemplar is

- ``li-inter``: the solver at the end of the previous task (none in the first task);
- ``li-intra``: the best solver so far in the present task, by the mean training cost of an epoch
  (none in the first epoch of a task).

The paper's adaptation (appendix "Baselines"): past tasks cannot be generated again, so a reservoir
of 200 instances is kept for each seen task. ``alpha`` is 0.5, "arbitrarily". Half of a task's
epochs, rounded down, replay these instances: every second epoch, starting with the second.

Neither the code of Li et al. nor the paper's code of this method is public, and we did not have
their whole article. Our choices are:

- which epochs replay. The batches of such an epoch go round the past tasks, one task a batch, each
  with the batch size of the task, or smaller if its reservoir holds less;
- the direction of the divergence, which is added in both kinds of epochs; ``L_DRL`` keeps weight 1;
- epochs of replay do not count for the best solver so far, because their costs are of other tasks;
- replayed instances are not offered to a reservoir again.

An epoch of replay draws no fresh instances, so from the second task on the stream of instances runs
behind the stream of fine-tuning.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from lifelong_co import registry
from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.validators import at_least_zero
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.regularization.exemplar import BestSoFar, Exemplar, training_cost


def li_inter(alpha: float = 0.5, buffer_size: int = 200, divergence: str = "kl") -> Method:
    """Return the method whose exemplar is the solver after the previous task.

    Parameters
    ----------
    alpha
        Weight of the divergence from the exemplar, at least 0.
    buffer_size
        Instances kept per seen task, at least 0; with 0 nothing is replayed.
    divergence
        A registered divergence; the exemplar is the teacher.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such divergence.
    """
    at_least_zero("li-inter", {"alpha": alpha, "buffer_size": buffer_size})
    diverge = registry.divergence(divergence)
    memory, exemplar = InstanceMemory(buffer_size), Exemplar()

    def before_task(learner: LearnerState) -> None:
        if learner.task > 0:
            exemplar.copy(learner.solver)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        if alpha:
            for part in exemplar.divergences(learner.solver, diverge):
                yield "exemplar", alpha * part

    def state_dict() -> dict[str, Any]:
        return {"memory": memory.state_dict(), "exemplar": exemplar.state_dict()}

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        memory.load_state_dict(learner, state["memory"])
        exemplar.load_state_dict(learner, state["exemplar"])

    return Method(
        before_task=before_task,
        instances=lambda learner: half_and_half(learner, memory),
        observer=exemplar.observer,
        loss_terms=loss_terms,
        state_dict=state_dict,
        load_state_dict=load_state_dict,
    )


def li_intra(alpha: float = 0.5, buffer_size: int = 200, divergence: str = "kl") -> Method:
    """Return the method whose exemplar is the best solver so far in the present task.

    Parameters
    ----------
    alpha, buffer_size, divergence
        As in `li_inter`.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such divergence.
    """
    at_least_zero("li-intra", {"alpha": alpha, "buffer_size": buffer_size})
    diverge = registry.divergence(divergence)
    memory, exemplar = InstanceMemory(buffer_size), Exemplar()
    best = BestSoFar(exemplar)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        if alpha:
            for part in exemplar.divergences(learner.solver, diverge):
                yield "exemplar", alpha * part
        if not replays(learner, memory):
            best.note(training_cost(rollout.cost))

    def state_dict() -> dict[str, Any]:
        return {"memory": memory.state_dict(), "best": best.state_dict()}

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        memory.load_state_dict(learner, state["memory"])
        best.load_state_dict(learner, state["best"])

    return Method(
        before_task=best.before_task,
        instances=lambda learner: half_and_half(learner, memory),
        observer=exemplar.observer,
        loss_terms=loss_terms,
        after_epoch=best.after_epoch,
        state_dict=state_dict,
        load_state_dict=load_state_dict,
    )


def replays(learner: LearnerState, memory: InstanceMemory) -> bool:
    """Return whether the present epoch replays."""
    return memory.capacity > 0 and learner.task > 0 and learner.epoch % 2 == 1


def half_and_half(learner: LearnerState, memory: InstanceMemory) -> Any:
    """Return a batch of the present task, or of a past one in every second epoch."""
    if replays(learner, memory):
        return memory.sample(learner, learner.batch % learner.task)
    batch = learner.draw(learner.task)
    memory.offer(learner, batch)
    return batch
