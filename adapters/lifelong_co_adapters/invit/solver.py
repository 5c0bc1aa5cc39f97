"""INViT as a solver: candidate lists, network, rollout and policy loss."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from torch import Tensor

from lifelong_co.protocols import Decode, Objective, Problem, Rollout
from lifelong_co.reinforce import greedy_baseline
from lifelong_co.rollout.decoding import single
from lifelong_co_adapters.invit.network import Network, Prepared
from lifelong_co_adapters.invit.official_names import from_official
from lifelong_co_adapters.invit.sizes import check_sizes


@attrs.frozen(eq=False)
class Encoding:
    """A batch and what the network prepared of it."""

    instances: Any
    prepared: Prepared


@attrs.frozen(eq=False)
class INViT:
    """Invariant nested-view transformer (Fang et al. 2024); build it with `invit`."""

    problem: Problem
    module: Network
    strict_capacity: bool = False

    def encode(self, instances: Any) -> Encoding:
        """Return what does not depend on the state: little, since INViT encodes every state."""
        return Encoding(instances, self.module.prepare(self.problem.features(instances)))

    def log_probs(self, encoding: Encoding, state: Any) -> Tensor:
        """Return ``[B, S, A]``, -inf where infeasible or not among the nearest.

        Where a trajectory is nowhere yet (TSP, before its forced start) the behavior is uniform.
        """
        problem, instances = self.problem, encoding.instances
        rule = problem.strictly_feasible if self.strict_capacity else problem.feasible
        return self.module.decode(
            encoding.prepared,
            problem.context(state),
            rule(instances, state),
            problem.unfinished(state),
        )

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        """Solve with ``trajectories`` solutions each, by default one.

        Solutions of a problem that begins nowhere are forced to begin at different nodes.
        """
        return single(self, instances, decode, **options)

    def objective(self) -> Objective:
        """Return REINFORCE with a greedy rollout baseline."""
        return greedy_baseline(self)

    def load_official(self, state_dict: Mapping[str, Tensor]) -> None:
        """Load the official code's parameters; see `from_official`."""
        self.module.load_state_dict(from_official(state_dict, self.module.state_dict()))


def invit(
    problem: Problem,
    *,
    dim_emb: int = 128,
    dim_ff: int = 512,
    nb_heads: int = 8,
    num_state_encoder: int = 2,
    nb_layers_state_encoder: int = 2,
    nb_layers_action_encoder: int = 2,
    nb_layers_decoder: int = 3,
    action_k: int = 15,
    state_k: Sequence[int] = (35, 50),
    batchnorm: bool = False,
    strict_capacity: bool = False,
) -> INViT:
    """Build INViT for a problem; the options carry the official names.

    Parameters
    ----------
    action_k
        How many of the nearest nodes may be visited next.
    state_k
        How many nodes each state encoder sees, one number for each, none below ``action_k``.
    batchnorm
        Normalise channels over the batch; what a state gets then depends on those beside it.
    strict_capacity
        As in the official code, visit a customer only if something of the load is left after it.
    dim_emb, dim_ff, nb_heads, num_state_encoder, nb_layers_state_encoder, \
nb_layers_action_encoder, nb_layers_decoder
        Widths, heads, and how many encoders and layers there are.

    Raises
    ------
    ConfigError
        If an option is not above zero or does not fit another.
    """
    options: dict[str, Any] = {
        "dim_emb": dim_emb,
        "dim_ff": dim_ff,
        "nb_heads": nb_heads,
        "nb_layers_state_encoder": nb_layers_state_encoder,
        "nb_layers_action_encoder": nb_layers_action_encoder,
        "nb_layers_decoder": nb_layers_decoder,
        "action_k": action_k,
    }
    check_sizes("invit", options, num_state_encoder, state_k)
    network = Network(problem, **options, state_k=tuple(state_k), batchnorm=batchnorm)
    return INViT(problem=problem, module=network, strict_capacity=strict_capacity)
