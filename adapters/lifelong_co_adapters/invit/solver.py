"""INViT as a solver: candidate lists, network, rollout and policy loss."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from torch import Tensor

from lifelong_co.problems.batch_checks import require_state
from lifelong_co.protocols import Decode, Objective, Problem, Rollout
from lifelong_co.reinforce import Trial, greedy_baseline
from lifelong_co.rollout.decoding import single
from lifelong_co.tensors import records
from lifelong_co_adapters.invit.network import Network, Prepared
from lifelong_co_adapters.invit.official_names import from_official
from lifelong_co_adapters.invit.sizes import check_sizes


@attrs.frozen(eq=False)
class Encoding:
    """A batch, and its form for the network."""

    instances: Any
    prepared: Prepared


@attrs.frozen(eq=False)
class INViT:
    """Invariant nested-view transformer (Fang et al. 2024); build it with `invit`."""

    problem: Problem
    module: Network
    strict_capacity: bool = False
    trial: Trial = Trial()  # noqa: RUF009

    def encode(self, instances: Any) -> Encoding:
        """Prepare a batch of instances. This is little work: INViT encodes at every state."""
        return Encoding(instances, self.module.prepare(self.problem.features(instances)))

    def log_probs(self, encoding: Encoding, state: Any) -> Tensor:
        """Return ``[B, S, A]``, -inf where an action is infeasible or not among the nearest.

        The behavior is uniform before the first action of a TSP, which a rollout forces.

        Raises
        ------
        InvalidInstancesError
            If the state has another ``B`` than the encoding.
        """
        problem, instances = self.problem, encoding.instances
        require_state(state.current, records.rows(instances))
        rule = problem.strictly_feasible if self.strict_capacity else problem.feasible
        return self.module.decode(
            encoding.prepared,
            problem.context(state),
            rule(instances, state),
            problem.unfinished(state),
        )

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        """Solve each instance with ``trajectories`` solutions, by default one.

        Trajectories of the TSP are forced to start at different nodes. For the options see
        `single`.
        """
        return single(self, instances, decode, **options)

    def objective(self) -> Objective:
        """Return REINFORCE with a greedy rollout baseline."""
        return greedy_baseline(self, self.trial)

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
    trial_batches: int = 4,
    trial_tolerance: float = 0.0,
    trial_images: bool = False,
) -> INViT:
    """Build INViT for a problem; the options have the names of the official code.

    Parameters
    ----------
    problem
        The problem, e.g. ``lco.problem("cvrp")``.
    action_k
        How many of the nearest nodes are candidates for the next visit.
    state_k
        How many nodes each state encoder sees: one number for each, at least ``action_k``.
    batchnorm
        Whether to normalise channels over the batch. Then the behavior in a state depends on the
        other states of the batch.
    strict_capacity
        Whether a customer is feasible only if some load is left after the visit, as in the official
        code.
    dim_emb, dim_ff, nb_heads, num_state_encoder, nb_layers_state_encoder, \
nb_layers_action_encoder, nb_layers_decoder
        Widths, and numbers of heads, encoders and layers.

    trial_batches, trial_tolerance, trial_images
        How the baseline is replaced at the end of an epoch: `reinforce.Trial`.

    Raises
    ------
    ConfigError
        If an option is not above zero or does not fit another one.
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
    numbers = {**options, "trial_batches": trial_batches}
    check_sizes("invit", numbers, num_state_encoder, state_k)
    network = Network(problem, **options, state_k=tuple(state_k), batchnorm=batchnorm)
    return INViT(
        problem=problem,
        module=network,
        strict_capacity=strict_capacity,
        trial=Trial(batches=trial_batches, tolerance=trial_tolerance, images=trial_images),
    )
