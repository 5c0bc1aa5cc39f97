"""DER++: dark experience replay (Buzzega et al. 2020, NeurIPS, eq. 6), for policies.

``L = L_DRL + alpha * D + beta * L_DRL(replayed)``: two draws from one buffer at every step. On
replayed states the learner keeps the behavior it had when they were recorded; the instances of
another replayed batch are learned by the task's own loss. Nothing depends on where a task begins:
the buffer is filled at every step of every epoch and replayed from the first task on, the present
task's experiences included.

It is not among the paper's methods. What we make of a method for classifiers:

- An experience is that of LLR-BC: one decoding step of one batch. Labels there are what the loss
  needs beside the input; here it is the cost, so the ``beta`` term is ``L_DRL`` of new sampled
  solutions of the replayed instances.
- The paper of DER compares logits before the softmax. What is stored here are log-probabilities,
  which are the logits but for a constant in each state: ``divergence="logits"`` compares them with
  that constant taken out, as a mean of squares over the feasible actions. A registered divergence
  compares the probabilities (DER's eq. 4 is ``kl``).
- One unit supplies the instances of the ``beta`` term, all of them; ``replay_size`` units, or a
  part of their instances, the ``alpha`` term. ``alpha`` and ``beta`` are within the range of DER's
  experiments (0.1 to 1) and not tuned.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from lifelong_co import registry
from lifelong_co.protocols import Divergence, LearnerState, Method, Observer, Rollout
from lifelong_co.replay.experience import PackedExperience
from lifelong_co.validators import at_least_zero, fraction
from lifelong_co_plugins.methods.experience_replay.behaviors import (
    batches_of_one_size,
    behaviors,
    share_of_rows,
)
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.instance_replay.objective import ReplayedLearning


def der_plus_plus(
    alpha: float = 0.5,
    beta: float = 0.5,
    divergence: str = "logits",
    buffer_size: int = 1000,
    replay_size: int = 16,
    replay_rows: float = 1.0,
    buffer: str = "reservoir",
) -> Method:
    """Return the method.

    Parameters
    ----------
    alpha
        Weight of the distance from the replayed behavior, at least 0.
    beta
        Weight of the loss on replayed instances, at least 0.
    divergence
        ``logits`` or a registered divergence; see the module.
    buffer_size, replay_size, replay_rows, buffer
        As in `llr_bc.llr_bc`.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such divergence or buffer.
    """
    numbers = {"alpha": alpha, "beta": beta, "buffer_size": buffer_size, "replay_size": replay_size}
    at_least_zero("der++", numbers)
    fraction("der++", {"replay_rows": replay_rows})
    diverge = logit_distance if divergence == "logits" else registry.divergence(divergence)
    # `always`: what is replayed is the buffer as it is.
    memory, replayed = Memory(buffer, buffer_size, "always"), ReplayedLearning()

    def before_task(learner: LearnerState) -> None:
        memory.start_task(learner)
        replayed.before_task(learner)

    drawn: list[list[PackedExperience]] = [[], []]

    def observer(learner: LearnerState, instances: Any) -> Observer | None:
        # As in DER, replay is drawn before the present batch is recorded.
        drawn[:] = [memory.sample(replay_size if alpha else 0), memory.sample(1 if beta else 0)]
        return memory.observer(learner, instances)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        sampled, batches = drawn
        share = share_of_rows(learner.solver.module, replay_rows)
        portions = list(memory.portions(sampled, share))
        units, chosen = [unit for unit, _ in portions], [rows for _, rows in portions]
        for group in batches_of_one_size(units, chosen, learner.solver.module):
            pairs = [units[i] for i in group], [chosen[i] for i in group]
            yield "behavior", alpha / len(units) * distance(learner, *pairs, diverge)
        for unit in batches:
            yield "replay", beta * replayed.loss(learner, unit.instances, "of a unit")

    def state_dict() -> dict[str, Any]:
        return {**memory.state_dict(), "objective": replayed.state_dict()}

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        memory.load_state_dict(learner, state)
        replayed.load_state_dict(learner, state["objective"])

    return Method(
        before_task=before_task,
        observer=observer,
        loss_terms=loss_terms,
        adopt=memory.adopt,
        state_dict=state_dict,
        load_state_dict=load_state_dict,
    )


def distance(
    learner: LearnerState,
    units: list[PackedExperience],
    chosen: list[Tensor | slice],
    diverge: Divergence,
) -> Tensor:
    """Return the sum over units of one size of their mean distance from the learner, a scalar."""
    learners = behaviors(learner, units, chosen)
    teachers = [unit.log_probs(rows) for unit, rows in zip(units, chosen, strict=True)]
    means = [diverge(*pair).mean() for pair in zip(teachers, learners, strict=True)]
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
