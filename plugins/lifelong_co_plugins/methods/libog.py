"""LiBOG: lifelong learning for black-box optimisers (Pei et al. 2025), in VRP (paper, appendix).

Between tasks it is EWC (`ewc`). Within a task it consolidates the best behavior so far:
``L = L_DRL + weight * L_EWC + intra_weight * D``. Here ``D`` is the mean of
``KL(P_theta || P_best)`` over the states of the rollout, and "best" is the solver at the end of the
best epoch of the present task. In the first epoch of a task there is no best solver and no ``D``.

``variant="corrected"``, the default, takes the epoch with the lowest mean training cost as best.

``variant="official"`` does exactly what the official code does (LLR-BC at 9ae601f,
``CVRPTrainer_LiBOG`` and ``TSPTrainer_LiBOG``), errors included:

- The EWC term counts ``1 + weight`` times.
- The best epoch is the one with the *highest* mean total loss, because the comparison starts at
  minus infinity. As in that code, the loss in this comparison has POMO's shared baseline, for all
  solvers, and the divergence of forced steps.
- ``D`` is a sum over the steps, divided by ``B S A``, so about ``T / A`` times the mean over
  states. Its probabilities are clamped to at least 1e-8. In the CVRP the best solver is in the
  state *after* the step (`official_intra.official_divergences`).

The weights are 10 and 1e-4 in the paper, and by default 1 and 1e-3 in its code. In both variants
the defaults are the paper's.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.reinforce import shared_baseline
from lifelong_co.replay.checked import checked_divergence
from lifelong_co.validators import at_least_one, at_least_zero
from lifelong_co_plugins.methods.ewc import Anchors
from lifelong_co_plugins.methods.kept import Kept
from lifelong_co_plugins.methods.regularization.exemplar import (
    BestSoFar,
    Exemplar,
    share_of_batch,
    training_cost,
)
from lifelong_co_plugins.methods.regularization.official_intra import official_divergences
from lifelong_co_plugins.methods.regularization.weight_unit import WeightUnit

VARIANTS = ("corrected", "official")


def libog(
    weight: float = 10.0,
    fisher_batches: int = 16,
    intra_weight: float = 1e-4,
    divergence: str = "rkl",
    variant: str = "corrected",
    weight_unit: str = "absolute",
) -> Method:
    """Return LiBOG: EWC between tasks; within a task, the behavior of the best epoch so far.

    Parameters
    ----------
    weight, fisher_batches
        Options of the consolidation between tasks, as in `ewc.ewc`.
    intra_weight
        Weight of the divergence from the best solver so far in the present task, at least 0.
    divergence
        A registered divergence; the best solver is the teacher. ``official`` needs ``rkl``.
    variant
        ``corrected``, or ``official`` with the errors of the official code; see the module.
    weight_unit
        That of both weights: ``absolute``, or ``gradient``, as ``alpha_unit`` in `llr_bc.llr_bc`.

    Raises
    ------
    ConfigError
        If a number is out of its range, or ``official`` has another divergence than ``rkl``.
    UnknownNameError
        If there is no such divergence, variant or unit.
    """
    at_least_zero("method 'libog'", {"weight": weight, "intra_weight": intra_weight})
    at_least_one("method 'libog'", {"fisher_batches": fisher_batches})
    if variant not in VARIANTS:
        raise UnknownNameError("variant", variant, VARIANTS)
    official = variant == "official"
    if official and divergence != "rkl":
        raise ConfigError(
            "method 'libog': divergence: expected 'rkl' with variant 'official', "
            f"got {divergence!r}"
        )
    diverge = checked_divergence(divergence)
    anchors, unit = Anchors(fisher_batches), WeightUnit("weight_unit", weight_unit)
    exemplar = Exemplar()
    best = BestSoFar(exemplar)

    def terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        one = unit.now(learner)
        counted = 1 + weight if official else weight
        if anchors.past and counted:
            yield "ewc", one * counted * anchors.penalty(learner.solver.module)
        if intra_weight:
            parts = (
                official_divergences(exemplar, learner.solver, rollout)
                if official
                else exemplar.divergences(learner.solver, diverge)
            )
            for part in parts:
                yield "intra", one * intra_weight * part

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        total = policy_loss(rollout) if official else 0.0
        for name, term in terms(learner, rollout):
            if official:
                total += float(term.detach())  # waits for the device
            yield name, term
        best.note(-total if official else training_cost(rollout.cost), share_of_batch(learner))

    def before_task(learner: LearnerState) -> None:
        anchors.before_task(learner)
        best.before_task(learner)

    kept = Kept(unit, anchors=anchors, best=best)
    return Method(
        before_task=before_task,
        observer=exemplar.observer,
        loss_terms=loss_terms,
        after_epoch=best.after_epoch,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


@torch.no_grad()
def policy_loss(rollout: Rollout) -> float:
    """Return POMO's ``L_DRL`` of a rollout."""
    return float(shared_baseline().loss(None, rollout))
