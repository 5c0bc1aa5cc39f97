"""Li et al. 2024, "cross-size generalization … via continual learning", as the paper adapts it.

The method has two parts (their abstract). Instances of past tasks are replayed, and the learner is
regularised towards an exemplar: ``L = L_DRL + alpha * D``, where ``D`` is the mean of
``KL(P_exemplar || P_theta)`` over the states of the rollout.

- ``li-inter``: the exemplar is the solver at the end of the previous task; the first task has none.
- ``li-intra``: the exemplar is the best solver so far in the present task, by the mean training
  cost of an epoch; the first epoch of a task has none.

The paper's adaptation (appendix "Baselines"): past tasks cannot be generated again, so a reservoir
of 200 instances is kept for each seen task; ``alpha`` is 0.5, "arbitrarily". Half of a task's
epochs, rounded down, replay these instances.

The code of Li et al. and the paper's code of this method are not public, and we had no access to
the full article. So these points are our choice:

- The second epoch of a task replays, and then every second one.
- The batches of such an epoch take the past tasks in turn. If an epoch has fewer batches than there
  are past tasks, the next such epoch goes on with the turns. If all these epochs of a task together
  have fewer, each batch draws another past task. A batch has the batch size of its task, or fewer
  instances if the reservoir holds fewer.
- The divergence, in the direction above, is added in all epochs, and ``L_DRL`` has weight 1.
- Epochs of replay do not count for the best solver so far: their costs are of other tasks.
- Replayed instances are not offered to a reservoir again.

An epoch of replay draws no fresh instances. So from the second task on, the training instances are
not those of fine-tuning.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor

from lifelong_co.protocols import Divergence, LearnerState, Method, Rollout
from lifelong_co.replay.checked import checked_divergence
from lifelong_co.validators import at_least_zero
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.turns import past_task
from lifelong_co_plugins.methods.kept import Kept
from lifelong_co_plugins.methods.regularization.exemplar import (
    BestSoFar,
    Exemplar,
    share_of_batch,
    training_cost,
)
from lifelong_co_plugins.methods.regularization.weight_unit import WeightUnit


def li_inter(
    alpha: float = 0.5,
    buffer_size: int = 200,
    divergence: str = "kl",
    alpha_unit: str = "absolute",
) -> Method:
    """Return the method whose exemplar is the solver after the previous task.

    Parameters
    ----------
    alpha
        Weight of the divergence from the exemplar, at least 0.
    buffer_size
        Instances kept per seen task, at least 0; with 0 nothing is replayed.
    divergence
        A registered divergence; the exemplar is the teacher.
    alpha_unit
        ``absolute``, or ``gradient``, as in `llr_bc.llr_bc`.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such divergence or unit.
    """
    at_least_zero("method 'li-inter'", {"alpha": alpha, "buffer_size": buffer_size})
    diverge = checked_divergence(divergence)
    unit = WeightUnit("alpha_unit", alpha_unit)
    memory, exemplar = InstanceMemory(buffer_size), Exemplar()

    def before_task(learner: LearnerState) -> None:
        if learner.task > 0:
            exemplar.copy(learner.solver)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        return held(learner, exemplar, diverge, alpha, unit)

    kept = Kept(unit, memory=memory, exemplar=exemplar)
    return Method(
        before_task=before_task,
        instances=lambda learner: half_and_half(learner, memory),
        observer=exemplar.observer,
        loss_terms=loss_terms,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


def li_intra(
    alpha: float = 0.5,
    buffer_size: int = 200,
    divergence: str = "kl",
    alpha_unit: str = "absolute",
) -> Method:
    """Return the method whose exemplar is the best solver so far in the present task.

    Parameters
    ----------
    alpha, buffer_size, divergence, alpha_unit
        As in `li_inter`.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such divergence or unit.
    """
    at_least_zero("method 'li-intra'", {"alpha": alpha, "buffer_size": buffer_size})
    diverge = checked_divergence(divergence)
    unit = WeightUnit("alpha_unit", alpha_unit)
    memory, exemplar = InstanceMemory(buffer_size), Exemplar()
    best = BestSoFar(exemplar)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        yield from held(learner, exemplar, diverge, alpha, unit)
        if not replays(learner, memory):
            best.note(training_cost(rollout.cost), share_of_batch(learner))

    kept = Kept(unit, memory=memory, best=best)
    return Method(
        before_task=best.before_task,
        instances=lambda learner: half_and_half(learner, memory),
        observer=exemplar.observer,
        loss_terms=loss_terms,
        after_epoch=best.after_epoch,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


def held(
    learner: LearnerState, exemplar: Exemplar, diverge: Divergence, alpha: float, unit: WeightUnit
) -> Iterator[tuple[str, Tensor]]:
    """Yield the parts of the term that holds the learner to the exemplar."""
    if not alpha:
        return
    weight = alpha * unit.now(learner)
    for part in exemplar.divergences(learner.solver, diverge):
        yield "exemplar", weight * part


def replays(learner: LearnerState, memory: InstanceMemory) -> bool:
    """Return whether the present epoch replays instances of past tasks."""
    return memory.capacity > 0 and learner.task > 0 and learner.epoch % 2 == 1


def half_and_half(learner: LearnerState, memory: InstanceMemory) -> Any:
    """Return a batch of the present task, or, in every second epoch, of a past task."""
    if replays(learner, memory):
        return memory.sample(learner, turn_of(learner))
    return memory.draw(learner)


def turn_of(learner: LearnerState) -> int:
    """Return the past task that the present batch of an epoch of replay takes."""
    present = learner.tasks[learner.task]
    if present.batches >= learner.task:
        return past_task(learner, learner.batch, present.batches)
    before = learner.epoch // 2 * present.batches  # batches of earlier epochs of replay
    return past_task(learner, before + learner.batch, present.epochs // 2 * present.batches)
