"""LiBOG: lifelong learning for black-box optimisers (Pei et al. 2025), in VRP (paper, appendix).

Between tasks it is EWC (`ewc`). Within a task it consolidates the best behavior so far:
``L = L_DRL + weight * L_EWC + intra_weight * D``. Here ``D`` is the mean of
``KL(P_theta || P_best)`` over the states of the rollout, and "best" is the solver at the end of the
best epoch of the present task. In the first epoch of a task there is no best solver and no ``D``.

``variant="corrected"``, the default, takes the epoch with the lowest mean training cost as best.

``variant="official"`` repeats two errors of the official code (LLR-BC at 9ae601f,
``CVRPTrainer_LiBOG``). The EWC term counts ``1 + weight`` times. The best epoch is the one with the
*highest* mean total loss, because the comparison starts at minus infinity. As in that code, the
loss in this comparison has POMO's shared baseline, for all solvers.

Both variants differ from the official code in these points:

- Its CVRP trainer compares the learner with the best solver in the state *after* the step; its TSP
  trainer compares them in the same state. Ours does the latter for both problems.
- Its divergence clamps probabilities to at least 1e-8. It sums over the ``T`` steps of ``B S``
  trajectories and divides by ``B S A``, so it is ``T / A`` times the mean over states. Ours is the
  mean. Forced steps add zero there; here they are not counted.
- The weights are 10 and 1e-4 in the paper, and by default 1 and 1e-3 in its code; ours are the
  paper's.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from lifelong_co.errors import UnknownNameError
from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.reinforce import shared_baseline
from lifelong_co.replay.checked import checked_divergence
from lifelong_co.validators import at_least_one, at_least_zero
from lifelong_co_plugins.methods.ewc import Anchors
from lifelong_co_plugins.methods.regularization.exemplar import BestSoFar, Exemplar, training_cost

VARIANTS = ("corrected", "official")


def libog(
    weight: float = 10.0,
    fisher_batches: int = 16,
    intra_weight: float = 1e-4,
    divergence: str = "rkl",
    variant: str = "corrected",
) -> Method:
    """Return the method.

    Parameters
    ----------
    weight, fisher_batches
        Options of the consolidation between tasks, as in `ewc.ewc`.
    intra_weight
        Weight of the divergence from the best solver so far in the present task, at least 0.
    divergence
        A registered divergence; the best solver is the teacher.
    variant
        ``corrected``, or ``official`` with two errors of the official code; see the module.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such divergence or variant.
    """
    at_least_zero("libog", {"weight": weight, "intra_weight": intra_weight})
    at_least_one("libog", {"fisher_batches": fisher_batches})
    if variant not in VARIANTS:
        raise UnknownNameError("variant", variant, VARIANTS)
    official = variant == "official"
    diverge = checked_divergence(divergence)
    anchors = Anchors(fisher_batches)
    exemplar = Exemplar()
    best = BestSoFar(exemplar)

    def terms(learner: LearnerState) -> Iterable[tuple[str, Tensor]]:
        counted = 1 + weight if official else weight
        if anchors.past and counted:
            yield "ewc", counted * anchors.penalty(learner.solver.module)
        if intra_weight:
            for part in exemplar.divergences(learner.solver, diverge):
                yield "intra", intra_weight * part

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        total = policy_loss(rollout) if official else 0.0
        for name, term in terms(learner):
            total += float(term.detach())
            yield name, term
        best.note(-total if official else training_cost(rollout.cost))

    def state_dict() -> dict[str, Any]:
        return {"anchors": anchors.state_dict(), "best": best.state_dict()}

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        anchors.load_state_dict(learner, state["anchors"])
        best.load_state_dict(learner, state["best"])

    return Method(
        before_task=best.before_task,
        observer=exemplar.observer,
        loss_terms=loss_terms,
        after_epoch=best.after_epoch,
        after_task=anchors.after_task,
        state_dict=state_dict,
        load_state_dict=load_state_dict,
    )


@torch.no_grad()
def policy_loss(rollout: Rollout) -> float:
    """Return POMO's ``L_DRL`` of a rollout."""
    return float(shared_baseline().loss(None, rollout))
