"""LLR-BC: lifelong learning with behavior consolidation (paper §3, algorithms 1 and 2).

``L = L_DRL + alpha * L_BC`` (eq. 2) with ``L_BC = sum_e w(e) D(e)`` (eq. 1): on states of past
tasks the learner keeps the behavior that was recorded there. ``w`` weighs states of low confidence
more, ``D`` is the reverse Kullback-Leibler divergence.

Two options make replay cheaper than in the paper without making it less precise
(docs/performance.md): ``bundle_size`` and ``replay_rows``. Their defaults are the paper's.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor

from lifelong_co.config.ablations import ablated
from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.replay.consolidation import consolidation_loss
from lifelong_co.validators import at_least_zero, fraction
from lifelong_co_plugins.methods.experience_replay.behaviors import behavior as behavior_of
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from lifelong_co_plugins.methods.kept import Kept
from lifelong_co_plugins.methods.regularization.weight_unit import WeightUnit


def with_ablations(method: Callable[..., Method]) -> Callable[..., Method]:
    """Let the option ``ablation`` set the options that it stands for."""

    @functools.wraps(method)
    def build(**options: Any) -> Method:
        return method(**ablated("llr-bc", options))

    return build


@with_ablations
def llr_bc(
    weighting: str = "variance",
    divergence: str = "rkl",
    behavior: str = "official",
    alpha: float = 100.0,
    alpha_unit: str = "absolute",
    buffer_size: int = 1000,
    replay_size: int = 16,
    replay_rows: float = 1.0,
    buffer: str = "reservoir",
    record: str = "last-epoch",
    bundle_size: int = 1,
    official_replay: bool = False,
    ablation: str = "",  # noqa: ARG001 - `with_ablations` has set its options
) -> Method:
    """Return the method of the paper.

    Parameters
    ----------
    weighting
        A registered weighting: which states weigh more in the consolidation loss.
    divergence
        A registered divergence, from the buffered behavior to the present one.
    behavior
        What is compared: ``probabilities`` (eq. 1), or ``official``, their softmax, as in the code.
    alpha
        The weight of the consolidation loss (eq. 2), at least 0.
    alpha_unit
        ``absolute`` (the paper's), or ``gradient``: the weight is ``alpha`` times the average norm
        of the policy's gradient (`weight_unit`), so it means the same for every objective.
    buffer_size
        ``|B|``: experiences (each one decoding step of one batch) that the buffer holds, at least
        0.
    replay_size
        ``|E|``: experiences replayed at every step, at least 0.
    replay_rows
        The fraction of their instances to replay, in ``(0, 1]``; 1 in the paper. They are drawn by
        weight. All are replayed if the network normalises over the batch.
    buffer
        A registered buffer: ``reservoir``, or ``balanced`` (each task holds as much).
    record
        ``last-epoch`` records the last epoch of each task, ``every-epoch`` all epochs; both replay
        the buffer from the start of the task. ``always`` records all and replays the present one.
    bundle_size
        So many steps of one rollout, spread evenly over it, are kept, drawn and replayed together,
        in one encoder pass; 1 in the paper. Sizes still count steps, in whole bundles, so they are
        about right. 0: all steps of a rollout, the paper's ablation IB; sizes count rollouts.
        Weights are normalised as if each step had been sampled alone.
    official_replay
        Whether three details are those of the official code. The first node's query of the TSP
        stays as it was recorded; steps of the CVRP that leave no choice are recorded, too;
        the loss has its small constants.
    ablation
        The short name of one of the paper's ablations, e.g. ``nEW``.

    Raises
    ------
    ConfigError
        If a number is out of its range, or an option is given that the ablation sets otherwise.
    UnknownNameError
        If a name is unknown.
    """
    numbers = {
        "alpha": alpha,
        "buffer_size": buffer_size,
        "replay_size": replay_size,
        "bundle_size": bundle_size,
    }
    at_least_zero("method 'llr-bc'", numbers)
    fraction("method 'llr-bc'", {"replay_rows": replay_rows})
    loss = consolidation_loss(weighting, divergence, behavior, guarded=official_replay)
    memory = Memory(buffer, buffer_size, record, bundle_size, official=official_replay)
    weights = Weights(loss, replay_rows, memory.random)
    unit = WeightUnit("alpha_unit", alpha_unit)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        if not alpha:
            return
        weight = alpha * unit.now(learner)
        replayed = weights.replayed(learner, memory.sample(replay_size))  # algorithm 2: E from B
        for batch in replayed.of_one_size():  # one encoder pass each
            now = behavior_of(learner.solver, batch)
            yield "consolidation", weight * loss.unit(batch.weights, batch.teacher, now)

    kept = Kept(memory, unit)
    return Method(
        before_task=memory.start_task,
        observer=memory.observer,
        loss_terms=loss_terms,
        after_step=memory.after_step,
        adopt=memory.adopt,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )
