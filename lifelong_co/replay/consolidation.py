"""The consolidation loss ``L_BC`` (paper, eq. 1), as in the paper and as in its code.

``behavior="probabilities"`` is the equation: the divergence of the action probabilities, weights
normalised over all sampled experiences.

``behavior="official"`` is what the published numbers come from (LLR-BC at 9ae601f,
``behaviour_clone_loss``): teacher and learner are each the *softmax of the probabilities*,
infeasible actions included, which makes both nearly flat; weights are normalised inside a unit and
the units are averaged. It also adds small numbers to divisors and inside logarithms, which hardly
changes the loss; ``guarded=True`` adds them, too.
"""

from collections.abc import Sequence

import attrs
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.protocols import ConsolidationLoss, Divergence, Weighting
from lifelong_co.replay.checked import checked_divergence, checked_weighting
from lifelong_co.tensors.probabilities import probabilities

BEHAVIORS = ("official", "probabilities")
GUARD = 1e-9
"""What the official code adds to the probabilities of a divergence and to weights."""
CONFIDENCE_GUARD = 1e-8
"""What it adds in a measure of confidence."""


@attrs.frozen
class ProbabilityConsolidation:
    """``L_BC = sum_e w(e) D(e)``, with weights that sum to 1 over all sampled experiences."""

    weighting: Weighting
    divergence: Divergence

    def raw_weights(self, teacher: Tensor) -> Tensor:
        """Return ``[B, S]``."""
        return self.weighting(probabilities(teacher))

    def normalise(self, raw: Sequence[Tensor]) -> list[Tensor]:
        """Return ``[B, S]`` per unit; all of them together sum to 1."""
        # If all behavior is certain, no state matters, and 0 / 0 would be NaN.
        total = sum(weight.sum() for weight in raw) + 1e-9
        return [weight / total for weight in raw]

    def unit(self, weights: Tensor, teacher: Tensor, learner: Tensor) -> Tensor:
        """Return the unit's share of the loss."""
        return (weights * self.divergence(teacher, learner)).sum()

    def __call__(self, teachers: Sequence[Tensor], learners: Sequence[Tensor]) -> Tensor:
        """Return the loss of all units."""
        return total_loss(self, teachers, learners)


@attrs.frozen
class OfficialConsolidation:
    """The official loss: divergence of the softmax of the probabilities, a mean over units."""

    weighting: Weighting
    divergence: Divergence

    def raw_weights(self, teacher: Tensor) -> Tensor:
        """Return ``[B, S]``."""
        return self.weighting(probabilities(teacher)) + GUARD

    def normalise(self, raw: Sequence[Tensor]) -> list[Tensor]:
        """Return ``[B, S]`` per unit; each sums to one share of the mean over the units."""
        return [weight / (weight.sum() * len(raw)) for weight in raw]

    def unit(self, weights: Tensor, teacher: Tensor, learner: Tensor) -> Tensor:
        """Return the unit's share of the loss."""
        flat_teacher = probabilities(teacher).log_softmax(dim=-1)
        flat_learner = probabilities(learner).log_softmax(dim=-1)
        return (weights * self.divergence(flat_teacher, flat_learner)).sum()

    def __call__(self, teachers: Sequence[Tensor], learners: Sequence[Tensor]) -> Tensor:
        """Return the loss of all units."""
        return total_loss(self, teachers, learners)


def weights_of(loss: ConsolidationLoss, teachers: Sequence[Tensor]) -> list[Tensor]:
    """Return the normalised weights ``[B, S]`` of units, given their log-probs ``[B, S, A]``."""
    return loss.normalise([loss.raw_weights(teacher) for teacher in teachers])


def total_loss(
    loss: ConsolidationLoss, teachers: Sequence[Tensor], learners: Sequence[Tensor]
) -> Tensor:
    """Return the sum of the units' shares."""
    if len(teachers) != len(learners) or len(teachers) == 0:
        raise ConfigError(
            "consolidation loss: expected as many learners as teachers and at least one, "
            f"got {len(teachers)} teachers and {len(learners)} learners"
        )
    weighted = zip(weights_of(loss, teachers), teachers, learners, strict=True)
    shares = [loss.unit(weights, teacher, learner) for weights, teacher, learner in weighted]
    return sum(shares[1:], start=shares[0])


def consolidation_loss(
    weighting: str | Weighting,
    divergence: str | Divergence,
    behavior: str = "official",
    *,
    guarded: bool = False,
) -> ConsolidationLoss:
    """Build ``L_BC`` from a weighting and a divergence, each a registered name or a function.

    Parameters
    ----------
    weighting
        ``variance``, ``entropy``, ``top2-margin``, ``uniform``, a plugin's, or a function.
    divergence
        ``kl``, ``rkl``, ``mixture``, ``js``, ``squared``, a plugin's, or a function.
    behavior
        ``official`` or ``probabilities``; see the module.
    guarded
        Whether to add the official code's small numbers, in weightings and divergences that have a
        parameter ``guard``; of ours ``variance``, ``entropy``, ``kl`` and ``rkl``.

    Returns
    -------
    A function of two lists of log-probs ``[B, S, A]`` to a scalar.

    Raises
    ------
    ComponentError
        Here and in the loss, if the weighting or the divergence returns a wrong shape, NaN or
        numbers below 0.
    ConfigError
        In the loss, if teachers and learners differ in number or shape.
    """
    weigh = checked_weighting(weighting, CONFIDENCE_GUARD if guarded else None)
    diverge = checked_divergence(divergence, GUARD if guarded else None)
    if behavior == "official":
        return OfficialConsolidation(weigh, diverge)
    if behavior == "probabilities":
        return ProbabilityConsolidation(weigh, diverge)
    raise UnknownNameError("behavior", behavior, BEHAVIORS)
