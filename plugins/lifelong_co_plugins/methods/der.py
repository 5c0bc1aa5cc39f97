"""DER++: dark experience replay (Buzzega et al. 2020, NeurIPS, eq. 6), for policies.

``L = L_DRL + alpha * D + beta * L_DRL(replayed)``: two draws from one buffer at every step. On
replayed states the learner keeps the behavior that was recorded there; the instances of another
replayed batch are learned by the loss of the task. Nothing depends on where a task begins: the
buffer is filled at every step of every epoch and replayed from the first task on, with the
experiences of the present task.

It is not among the paper's methods, and it was made for classifiers. What we changed:

- An experience is that of LLR-BC: one decoding step of one batch. A classifier learns replayed
  inputs with their labels. A policy learns from costs, so the ``beta`` term is ``L_DRL`` of newly
  sampled solutions of the replayed instances.
- The paper of DER compares logits before the softmax. We store log-probabilities, which are the
  logits less a constant in each state. ``divergence="logits"`` takes this constant out and compares
  them by the mean of squares over the feasible actions. A registered divergence compares the
  probabilities (DER's eq. 4 is ``kl``).
- The ``beta`` term uses all instances of one experience, the ``alpha`` term ``replay_size``
  experiences or a part of their instances, drawn uniformly. The defaults of ``alpha`` and ``beta``
  are within the range of DER's experiments (0.1 to 1) and not tuned.
"""

import random
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from lifelong_co.protocols import Divergence, LearnerState, Method, Rollout, Solver, Weighting
from lifelong_co.replay.checked import checked_divergence, checked_weighting
from lifelong_co.tensors.modules import normalises_over_batch
from lifelong_co.tensors.probabilities import probabilities
from lifelong_co.validators import at_least_zero, fraction
from lifelong_co_plugins.methods.experience_replay.behaviors import behavior
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle
from lifelong_co_plugins.methods.instance_replay.objective import ReplayObjective
from lifelong_co_plugins.methods.kept import Kept
from lifelong_co_plugins.methods.regularization.weight_unit import WeightUnit

LEAST = 1e-9
"""Least divisor: all states of a step can have the weight 0."""


def der_plus_plus(
    alpha: float = 0.5,
    beta: float = 0.5,
    divergence: str = "logits",
    weighting: str = "uniform",
    buffer_size: int = 1000,
    replay_size: int = 16,
    replay_rows: float = 1.0,
    buffer: str = "reservoir",
    alpha_unit: str = "absolute",
) -> Method:
    """Return DER++: it keeps its logits in buffered states and learns buffered instances again.

    Parameters
    ----------
    alpha
        Weight of the distance from the replayed behavior, at least 0.
    beta
        Weight of the loss on replayed instances, at least 0.
    divergence
        ``logits`` or a registered divergence; see the module.
    weighting
        ``uniform``, as in DER, or a registered weighting. Then the states of each replayed step
        are weighed by the recorded behavior, and their weights sum to 1.
    buffer_size
        Experiences (each one decoding step of one batch) that the buffer holds, at least 0.
    replay_size
        Experiences replayed at every step, at least 0.
    replay_rows
        The fraction of their instances to replay, in ``(0, 1]``.
    buffer
        A registered buffer: ``reservoir``, or ``balanced`` (each task holds as much).
    alpha_unit
        ``absolute``, or ``gradient``: ``alpha`` times the average norm of the policy's gradient.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such divergence, weighting, buffer or unit.
    """
    numbers = {"alpha": alpha, "beta": beta, "buffer_size": buffer_size, "replay_size": replay_size}
    at_least_zero("method 'der++'", numbers)
    fraction("method 'der++'", {"replay_rows": replay_rows})
    diverge = logit_distance if divergence == "logits" else checked_divergence(divergence)
    weigh = None if weighting == "uniform" else checked_weighting(weighting)
    memory = Memory(buffer, buffer_size, "always")  # replays the buffer of the present step
    objective, unit = ReplayObjective(), WeightUnit("alpha_unit", alpha_unit)

    def before_task(learner: LearnerState) -> None:
        memory.start_task(learner)
        objective.before_task(learner)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        weight = alpha * unit.now(learner)
        # As in DER, the present batch is not in the buffer yet.
        sampled = memory.sample(replay_size if alpha else 0)
        batches = memory.sample(1 if beta else 0)
        replayed = uniform_rows(learner.solver.module, sampled, replay_rows, memory.random)
        for part in replayed.of_one_size():
            share = weight / len(replayed.bundles)
            yield "behavior", share * distance(learner.solver, part, diverge, weigh)
        for bundle in batches:
            # "unit" is an older word; another one would change the random stream, and results.
            yield "replay", beta * objective.loss(learner, bundle.steps[0].instances, "of a unit")

    kept = Kept(memory, unit, objective=objective)
    return Method(
        before_task=before_task,
        observer=memory.observer,
        loss_terms=loss_terms,
        after_step=memory.after_step,
        after_epoch=objective.after_epoch,  # the buffer has the present task's instances, too
        adopt=memory.adopt,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


def uniform_rows(
    module: nn.Module, bundles: Iterable[Bundle], fraction: float, stream: random.Random
) -> Replayed:
    """Return bundles with a share of their instances, drawn uniformly.

    The share is of all instances, in ``(0, 1]``, and spread evenly over the bundles. Where it
    leaves a bundle less than one instance, only some bundles are replayed; the first one always is.
    """
    alone = normalises_over_batch(module)
    fraction = 1.0 if alone else fraction
    found = []
    due = 0.0
    for i, bundle in enumerate(bundles):
        first = bundle.steps[0]
        due += fraction * first.rows
        count = max(round(due), int(i == 0))
        due -= count
        if count == first.rows:
            found.append(ReplayedBundle(bundle.steps))
        elif count:
            rows = sorted(stream.sample(range(first.rows), count))
            index = torch.tensor(rows, device=first.device)
            found.append(ReplayedBundle(bundle.steps, index))
    return Replayed(tuple(found), each_alone=alone)


def distance(
    solver: Solver, replayed: Replayed, diverge: Divergence, weigh: Weighting | None = None
) -> Tensor:
    """Return the sum over steps of their mean distance from the learner, a scalar.

    With a weighting the mean is weighted; where all weights of a step are 0, its term is 0.
    """
    learners = behavior(solver, replayed).split(replayed.sizes)
    teachers = replayed.teacher.split(replayed.sizes)
    means = []
    for teacher, learner in zip(teachers, learners, strict=True):
        apart = diverge(teacher, learner)  # [b, S]
        if weigh is None:
            means.append(apart.mean())
        else:
            weights = weigh(probabilities(teacher))
            means.append((weights * apart).sum() / weights.sum().clamp(min=LEAST))
    return sum(means[1:], start=means[0])


def logit_distance(teacher: Tensor, learner: Tensor) -> Tensor:
    """Return the mean squared distance of the logits ``[..., A] x [..., A] -> [...]``.

    Log-probabilities are logits less a constant; only the feasible actions, finite in both, count.
    """
    feasible = teacher.isfinite() & learner.isfinite()
    count = feasible.sum(dim=-1, keepdim=True).clamp(min=1)
    # Replaced before the subtraction: a NaN that is masked afterwards still has a NaN gradient.
    gap = learner.masked_fill(~feasible, 0.0) - teacher.masked_fill(~feasible, 0.0)
    gap = (gap - gap.sum(dim=-1, keepdim=True) / count).masked_fill(~feasible, 0.0)
    return gap.square().sum(dim=-1) / count.squeeze(-1)
