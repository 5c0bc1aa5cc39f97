"""The official INViT (Fang et al. 2024, github.com/Kasumigaoka-Utaha/INViT) as a solver."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from torch import Tensor, nn

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Decode, Objective, Problem, Rollout
from lifelong_co.reinforce import Trial, greedy_baseline
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
    """The official network, called for one decision at a time; build it with `official_invit`."""

    problem: Problem
    module: nn.Module
    sizes: Sizes
    strict_capacity: bool
    trial: Trial

    def encode(self, instances: Any) -> Any:
        """Return the instances: INViT encodes only states."""
        return instances

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return ``[B, S, A]``, -inf where infeasible or not among the nearest ``action_k``.

        The behavior is uniform before the first action of a TSP, which a rollout forces.
        """
        if self.problem.name == "tsp":
            return tsp_log_probs(self.module, self.sizes, encoding, state)
        return cvrp_log_probs(
            self.module, self.sizes, encoding, state, strict_capacity=self.strict_capacity
        )

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        """Solve each instance with ``S = trajectories`` solutions, by default one.

        Trajectories of the TSP start at the first ``S`` nodes (in the official code at random
        ones). Those of the CVRP start at the depot, and the solver chooses every action. For the
        options see `single`.
        """
        return single(self, instances, decode, **options)

    def objective(self) -> Objective:
        """Return REINFORCE with a greedy rollout baseline."""
        return greedy_baseline(self, self.trial)

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
    trial_batches: int = 4,
    trial_tolerance: float = 0.0,
    trial_images: bool = False,
) -> OfficialINViT:
    """Build the official INViT for TSP or CVRP, with the names and defaults of its ``train.py``.

    Parameters
    ----------
    problem
        ``tsp`` or ``cvrp``.
    dim_emb, dim_ff, nb_heads
        The width of the embeddings (a multiple of ``nb_heads``) and of the feed-forward layers, and
        the number of heads.
    num_state_encoder, nb_layers_state_encoder, nb_layers_action_encoder, nb_layers_decoder
        The number of views of the state, and the layers of each part.
    action_k
        How many of the nearest nodes are candidates.
    state_k
        How many of the nearest nodes each state encoder sees, at least ``action_k``.
    batchnorm
        Whether the encoders normalise over the batch instead of over channels.
    strict_capacity
        CVRP. True: a customer is reachable only if its demand is below the remaining load, as in
        the official code. False: also if its demand equals the load.

    trial_batches, trial_tolerance, trial_images
        How the baseline is replaced at the end of an epoch: `reinforce.Trial`.

    Raises
    ------
    ConfigError
        If an option is out of range, the problem is neither TSP nor CVRP, or the official code is
        missing.
    """
    sizes = {
        "dim_emb": dim_emb,
        "dim_ff": dim_ff,
        "nb_heads": nb_heads,
        "nb_layers_state_encoder": nb_layers_state_encoder,
        "nb_layers_action_encoder": nb_layers_action_encoder,
        "nb_layers_decoder": nb_layers_decoder,
    }
    numbers = {**sizes, "action_k": action_k, "trial_batches": trial_batches}
    check_sizes(NAME, numbers, num_state_encoder, state_k)
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
        trial=Trial(batches=trial_batches, tolerance=trial_tolerance, images=trial_images),
    )
