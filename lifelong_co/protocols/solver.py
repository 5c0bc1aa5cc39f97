"""For authors of solvers: a policy, and the solutions that it builds."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import attrs
import torch
from torch import Tensor, nn

from lifelong_co.protocols.problem import Problem

if TYPE_CHECKING:
    from lifelong_co.protocols.learning import Objective

Decode = Literal["greedy", "sample"]
Observer = Callable[[Any, Tensor], None]
"""Called with ``(state, log_probs [B, S, A])`` at each decoding step that is not forced."""


@attrs.frozen(eq=False)
class Rollout:
    """Solutions of a batch."""

    actions: Tensor
    """Long ``[B, S, T]``, forced actions included."""
    cost: Tensor
    """Float ``[B, S]``, in the problem's unit of cost (`Problem.cost`)."""
    log_likelihood: Tensor
    """Float ``[B, S]``: the sum of the log-probabilities of the actions taken; differentiable."""


@runtime_checkable
class Solver(Protocol):
    """A neural routing solver: a policy that depends on the instance and the state only."""

    @property
    def problem(self) -> Problem:
        """The problem it solves."""

    @property
    def module(self) -> nn.Module:
        """The network with its parameters."""

    def encode(self, instances: Any) -> Any:
        """Return all that `log_probs` needs of the instances.

        It is called for each rollout, and again for learning in one pass and for replay.
        """

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return the log-probabilities ``[B, S, A]``; -inf where infeasible; differentiable.

        ``S`` is that of the state and can be any number. States of different steps can be joined,
        as if they were trajectories of one step.
        """

    def rollout(
        self,
        instances: Any,
        decode: Decode = "greedy",
        *,
        trajectories: int | None = None,
        generator: torch.Generator | None = None,
        observe: Observer | None = None,
    ) -> Rollout:
        """Solve the instances with ``S = trajectories`` solutions each.

        With None the solver chooses ``S``: ``n`` for POMO, 1 for INViT. An observer may keep what
        it receives, so a loop that uses the same memory again for the next step passes copies.
        """

    def objective(self) -> "Objective":
        """Return a new ``L_DRL`` (paper §3, eq. 2) with the state it keeps between steps.

        A run learns by it if the run's objective is ``reinforce``.
        """

    def load_official(self, state_dict: Mapping[str, Tensor]) -> None:
        """Load parameters under the official code's names and shapes."""
