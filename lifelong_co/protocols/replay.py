"""For authors of weightings, divergences and buffers: the parts of experience replay."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from torch import Tensor

X = TypeVar("X")

Weighting = Callable[[Tensor], Tensor]
"""``w(e)`` of the teacher's behavior: probs ``[..., A] -> [...]``, not normalised, at least 0.

It must depend on the behavior only, because the weight of an experience is computed once and kept.
"""

Divergence = Callable[[Tensor, Tensor], Tensor]
"""``D(e)`` per state: teacher and learner log-probs ``[..., A] x [..., A] -> [...]``.

Both are -inf on infeasible actions; the gradient there must be zero, not NaN. The teacher may be
-inf where the learner is finite, and the other way round: INViT considers only the nearest nodes,
and the experiences in a buffer can come from another solver. With ``behavior="official"``
(`replay.consolidation`) nothing is -inf: both are log-softmaxes of the probabilities of all ``A``
actions, infeasible ones included.
"""


class ConsolidationLoss(Protocol):
    """The consolidation loss ``L_BC``, eq. 1 of the paper."""

    def __call__(self, teachers: Sequence[Tensor], learners: Sequence[Tensor]) -> Tensor:
        """Return a scalar from two lists of log-probs ``[B, S, A]``, one entry per unit."""

    def raw_weights(self, teacher: Tensor) -> Tensor:
        """Return the weights ``[B, S]`` of one unit's states before normalisation, at least 0."""

    def normalise(self, raw: Sequence[Tensor]) -> list[Tensor]:
        """Return the weights ``[B, S]`` of each unit, normalised so that all of them sum to 1."""

    def unit(self, weights: Tensor, teacher: Tensor, learner: Tensor) -> Tensor:
        """Return one unit's share of the loss, a scalar; `__call__` sums over the units."""


class Experience(Protocol):
    """One decoding step of one batch: a state and the behavior of the solver in it."""

    @property
    def task(self) -> int:
        """Index of the task it was recorded on."""

    @property
    def instances(self) -> Any:
        """The batch's instances (shared by all experiences of the batch)."""

    def state(self, rows: Tensor | slice = slice(None)) -> Any:
        """Return the state of the chosen instances; by default of all."""

    def log_probs(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """Return the behavior ``P`` on the chosen instances as log-probabilities ``[B, S, A]``."""


class Buffer(Protocol[X]):
    """A store of fixed capacity for items of any type. It decides which items are kept.

    ``llr-bc`` and ``der++`` iterate over it and draw uniformly themselves. A `Weighting` decides
    how much an experience counts.
    """

    @property
    def capacity(self) -> int:
        """The highest number of items it can hold."""

    @property
    def seen(self) -> int:
        """The number of items offered to it so far."""

    def admit(self) -> int | None:
        """Count an offer; return its slot, or None if rejected. Several may come before a `put`."""

    def put(self, slot: int, item: X) -> None:
        """Store an admitted item. Items are put in the order in which they were admitted."""

    def add(self, item: X) -> None:
        """Offer an item: `admit`, then `put`."""

    def sample(self, k: int) -> list[X]:
        """Return ``min(k, len)`` items, drawn uniformly without replacement.

        It is for methods that do not draw themselves; no method of lifelong-co calls it.
        """

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[X]: ...

    def state_dict(self) -> dict[str, Any]:
        """Return the complete state, including that of the random stream.

        ``items`` is a list of the items. Methods replace these by plain data for a checkpoint.
        """

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`; in ``items`` are items again."""
