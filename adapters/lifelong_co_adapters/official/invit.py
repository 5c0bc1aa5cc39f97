"""The official INViT (Fang et al. 2024, github.com/Kasumigaoka-Utaha/INViT) as a solver."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from torch import Tensor, nn

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Decode, Objective, Problem, Rollout
from lifelong_co.reinforce import greedy_baseline
from lifelong_co.rollout.decoding import single
from lifelong_co_adapters.invit.sizes import check_sizes
from lifelong_co_adapters.official.invit_policy import Sizes, cvrp_log_probs, tsp_log_probs
from lifelong_co_adapters.official.loading import load
from lifelong_co_adapters.official.locate import upstream
from lifelong_co_adapters.official.neighbors import stand_ins
from lifelong_co_adapters.official.parameters import load_exactly

NAME = "official-invit"
NETWORKS = {"tsp": "TSP_net", "cvrp": "VRP_net"}  # both the module and its class


@attrs.frozen(eq=False)
class OfficialINViT:
    """The official network, asked for one decision at a time; build it with `official_invit`."""

    problem: Problem
    module: nn.Module
    sizes: Sizes
    strict_capacity: bool

    def encode(self, instances: Any) -> Any:
        """Return the instances: all that is encoded depends on the state."""
        return instances

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return ``[B, S, A]``, -inf where infeasible or not among the nearest ``action_k``.

        Where a trajectory is nowhere yet (TSP, before its forced start) the behavior is uniform.
        """
        if self.problem.name == "tsp":
            return tsp_log_probs(self.module, self.sizes, encoding, state)
        return cvrp_log_probs(
            self.module, self.sizes, encoding, state, strict_capacity=self.strict_capacity
        )

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        """Solve with ``S = trajectories`` solutions each, by default one.

        The TSP's start at the first ``S`` nodes (the official code's at random ones), the CVRP's
        at the depot, from where the solver chooses every action itself.
        """
        return single(self, instances, decode, **options)

    def objective(self) -> Objective:
        """Return REINFORCE with a greedy rollout baseline."""
        return greedy_baseline(self)

    def load_official(self, state_dict: Mapping[str, Tensor]) -> None:
        """Load the official code's parameters; see `load_exactly`."""
        load_exactly(self.module, state_dict)


def official_invit(
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
    strict_capacity: bool = True,
) -> OfficialINViT:
    """Build the official INViT for TSP or CVRP; names and defaults are those of its ``train.py``.

    Parameters
    ----------
    problem
        ``tsp`` or ``cvrp``.
    dim_emb, dim_ff, nb_heads
        Width of the embeddings (a multiple of ``nb_heads``), of the feed-forward layers, heads.
    num_state_encoder, nb_layers_state_encoder, nb_layers_action_encoder, nb_layers_decoder
        How many views of the state there are, and the layers of each part.
    action_k
        How many of the nearest nodes are candidates.
    state_k
        How many of the nearest nodes each state encoder sees, none below ``action_k``.
    batchnorm
        Whether the encoders normalise over the batch instead of over channels.
    strict_capacity
        CVRP: whether a customer is reachable only if its demand is below the remaining load, as
        in the official code, or also if it equals it.

    Raises
    ------
    ConfigError
        If an option is out of range, the problem is another, or the official code is missing.
    """
    sizes = {
        "dim_emb": dim_emb,
        "dim_ff": dim_ff,
        "nb_heads": nb_heads,
        "nb_layers_state_encoder": nb_layers_state_encoder,
        "nb_layers_action_encoder": nb_layers_action_encoder,
        "nb_layers_decoder": nb_layers_decoder,
    }
    check_sizes(NAME, {**sizes, "action_k": action_k}, num_state_encoder, state_k)
    if problem.name not in NETWORKS:
        raise ConfigError(
            f"solver {NAME!r}: problem: expected {' or '.join(NETWORKS)}, got {problem.name}"
        )
    name = NETWORKS[problem.name]
    network = getattr(load(upstream("INViT"), name, stand_ins()), name)
    module = network(
        dim_input_nodes=2, **sizes, num_state_encoder=num_state_encoder, batchnorm=batchnorm
    )
    return OfficialINViT(
        problem=problem,
        module=module,
        sizes=Sizes(action_k=action_k, state_k=tuple(state_k)),
        strict_capacity=strict_capacity,
    )
