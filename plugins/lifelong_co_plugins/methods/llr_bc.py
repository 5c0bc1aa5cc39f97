"""LLR-BC: lifelong learning with behavior consolidation (paper §3, algorithms 1 and 2)."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.ablations import ablated
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.protocols import Divergence, LearnerState, Method, Rollout
from lifelong_co.replay.consolidation import consolidation_loss, weights_of
from lifelong_co.validators import at_least_one, at_least_zero, fraction
from lifelong_co_plugins.methods.experience_replay.behaviors import (
    batches_of_one_size,
    behaviors,
    share_of_rows,
)
from lifelong_co_plugins.methods.experience_replay.bundles import units_of
from lifelong_co_plugins.methods.experience_replay.importance_sampling import CHOICES
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.experience_replay.weights import Weighing


def with_ablations(method: Callable[..., Method]) -> Callable[..., Method]:
    """Let an ``ablation`` set what it stands for, and only what was not given otherwise."""

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
    buffer_size: int = 1000,
    replay_size: int = 16,
    replay_rows: float = 1.0,
    row_choice: str = "weight",
    buffer: str = "reservoir",
    record: str = "last-epoch",
    unit: str = "step",
    bundle_size: int = 1,
    reverse_share: float = 0.5,
    adaptive_replay: float = 0.0,
    ablation: str = "",  # noqa: ARG001 - `with_ablations` has put its options in place
) -> Method:
    """Return the method of the paper.

    Parameters
    ----------
    weighting, divergence, behavior
        The consolidation loss; see `consolidation.consolidation_loss`.
    alpha
        Its weight in ``L = L_DRL + alpha * L_BC`` (eq. 2), at least 0.
    buffer_size
        ``|B|``: experiences (each one decoding step of one batch) the buffer holds.
    replay_size
        ``|E|``: experiences replayed at every step.
    replay_rows
        The fraction of their instances replayed, in ``(0, 1]``; 1 in the paper. Fewer rows
        trade variance for work. All are replayed where the network normalises over the batch
        (`replay.share_of_rows`).
    row_choice
        Which: by ``weight`` or ``uniform``; see `row_choice`.
    buffer
        A registered buffer: ``reservoir``, or ``balanced`` (each task holds as much).
    record
        ``last-epoch``, ``every-epoch`` or ``always``; see `memory.Memory`.
    unit
        ``step``, or ``solution``: a unit is all unforced steps of a batch's solutions. Weights are
        then normalised as if each step had been sampled alone; sizes count solutions.
    bundle_size
        At least 1; 1 in the paper. So many steps of one rollout, spread evenly over it, are kept,
        drawn and replayed on the same instances together, so that one encoder pass serves them all.
        Sizes still count steps, in whole bundles: about so many, since rollouts have not all the
        same length. Not for solutions.
    reverse_share
        Of the divergence ``mixture``: the share of reverse KL, in ``[0, 1]``.
    adaptive_replay
        ``r``, at least 0: replay the fewest units with ``r`` states for each new one, that is
        with at least ``r B S T`` for a batch of ``B`` instances, ``S`` solutions each, of ``T``
        actions, or all there are; ``replay_size`` is then not used. Of each unit the fraction
        ``replay_rows`` counts. By weight that fraction of all their instances is drawn, repeats
        included; one drawn twice is replayed once and weighs twice, so fewer states than that may
        be computed. 0: off, as in the paper, whose 16 units are about ``r = 1`` at 20 customers,
        0.3 at 50 and 0.15 at 100: a weakness, says its §5.
    ablation
        A short name of the paper's; see `ablations.ABLATIONS`.

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
        "adaptive_replay": adaptive_replay,
    }
    at_least_zero("llr-bc", numbers)
    fraction("llr-bc", {"replay_rows": replay_rows})
    if row_choice not in CHOICES:
        raise UnknownNameError("row_choice", row_choice, CHOICES)
    loss = consolidation_loss(weighting, sharing(divergence, reverse_share), behavior)
    at_least_one("llr-bc", {"bundle_size": bundle_size})
    memory = Memory(buffer, buffer_size, record, unit, bundle_size)
    at_once = units_of(replay_size, unit, bundle_size)
    weighing = Weighing(loss)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        if not alpha:
            return
        enough = adaptive_replay * rollout.actions.numel() if adaptive_replay else None
        weights: list[Tensor] | None = None  # those of what is replayed, unless chosen by weight
        # algorithm 2, line "uniformly sample"
        share = share_of_rows(learner.solver.module, replay_rows)
        if share < 1 and row_choice == "weight":
            sampled = memory.whole(at_once, share, enough)
            if not sampled:
                return
            units, chosen, weights = weighing.draw(sampled, share, memory.random.random())
        else:
            units, chosen = memory.draw(at_once, share, enough)
        teachers = [each.log_probs(rows) for each, rows in zip(units, chosen, strict=True)]
        if weights is None:
            weights = weights_of(loss, teachers)
        for group in batches_of_one_size(units, chosen, learner.solver.module):
            own = [units[i] for i in group], [chosen[i] for i in group]
            learners = behaviors(learner, *own)
            weight = torch.cat([weights[i] for i in group])  # of one size: as if of one unit
            teacher = torch.cat([teachers[i] for i in group])
            yield "consolidation", alpha * loss.unit(weight, teacher, torch.cat(learners))

    return Method(
        before_task=memory.start_task,
        observer=memory.observer,
        loss_terms=loss_terms,
        adopt=memory.adopt,
        state_dict=memory.state_dict,
        load_state_dict=memory.load_state_dict,
    )


def sharing(divergence: str, reverse_share: float) -> Divergence:
    """Return a registered divergence; ``mixture`` with this share of reverse KL.

    Raises
    ------
    ConfigError
        If the share is out of ``[0, 1]``, or given to a divergence that has none.
    """
    if not 0 <= reverse_share <= 1:
        raise ConfigError(
            f"method 'llr-bc': reverse_share: expected a share in [0, 1], got {reverse_share}"
        )
    chosen = registry.divergence(divergence)
    if divergence == "mixture":
        mixture: Callable[..., Tensor] = chosen
        return functools.partial(mixture, reverse=reverse_share)
    if reverse_share != 0.5:
        raise ConfigError(
            f"method 'llr-bc': reverse_share: expected divergence 'mixture' beside it, "
            f"got {divergence!r}"
        )
    return chosen
