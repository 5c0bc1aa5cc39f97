"""POMO as a solver: network, multi-start rollout and policy loss."""

from collections.abc import Mapping
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.batch_checks import require_state
from lifelong_co.protocols import Decode, Objective, Problem, Rollout
from lifelong_co.reinforce import shared_baseline
from lifelong_co.rollout.action_selection import with_default
from lifelong_co.rollout.cuda_graphs import Graphs
from lifelong_co.rollout.decoding import decoded, multi_start
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import device_of
from lifelong_co.validators import above_zero
from lifelong_co_adapters.pomo.decoder import Nodes, Tables
from lifelong_co_adapters.pomo.inference import Inference
from lifelong_co_adapters.pomo.network import Network
from lifelong_co_adapters.pomo.official_names import from_official


@attrs.frozen(eq=False)
class Encoding:
    """A batch, and its encoded nodes."""

    instances: Any
    nodes: Nodes | Tables


@attrs.frozen(eq=False)
class POMO:
    """Policy optimization with multiple optima (Kwon et al. 2020); build it with `pomo`."""

    problem: Problem
    module: Network
    graphs: Graphs = attrs.field(factory=Graphs, init=False, repr=False)
    """Rollouts captured on a GPU."""

    def encode(self, instances: Any) -> Encoding:
        """Return keys, values and lookup tables of a batch."""
        return Encoding(instances, self.module.encode(self.problem.features(instances)))

    def queries(self, instances: Any) -> dict[str, Tensor]:
        """Return the queries ``[B, A, H * d]`` of all nodes in each role except the last node's."""
        return self.module.encoded_queries(self.problem.features(instances))

    def encode_with(self, instances: Any, queries: Mapping[str, Tensor]) -> Encoding:
        """Return `encode` with the given queries ``[B, A, H * d]`` in place of those of a role."""
        features = self.problem.features(instances)
        return Encoding(instances, self.module.encode(features, queries))

    def log_probs(self, encoding: Encoding, state: Any) -> Tensor:
        """Return ``[B, S, A]``, -inf where an action is infeasible.

        The behavior is uniform before the first action of a TSP, which a rollout forces.

        Raises
        ------
        InvalidInstancesError
            If the state has another ``B`` than the encoding.
        """
        require_state(state.current, records.rows(encoding.instances))
        feasible = self.problem.feasible(encoding.instances, state)
        return self.module.decode(encoding.nodes, self.problem.context(state), feasible)

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        """Solve with one trajectory from every node, or from the first ``trajectories`` nodes.

        For the options see `multi_start`. Without gradients a CPU decodes greedily by `Inference`.
        """
        learns = torch.is_grad_enabled() or options.get("observe") is not None
        on_cpu = device_of(self.module).type == "cpu"
        if decode == "greedy" and on_cpu and not learns and not torch.is_autocast_enabled("cpu"):
            decoding = with_default(self.problem.size(instances), decode, **options)
            starts = self.problem.starts(instances, decoding.trajectories)
            return decoded(Inference(self.problem, self.module), instances, decoding, starts)
        return multi_start(self, instances, decode, graphs=self.graphs, **options)

    def solve_encoded(
        self, encoding: Encoding, decode: Decode = "greedy", **options: Any
    ) -> Rollout:
        """Return `rollout` of a batch that `encode` has encoded; its graph reaches the encoding."""
        return multi_start(self, encoding.instances, decode, encoding=encoding, **options)

    def objective(self) -> Objective:
        """Return REINFORCE with the shared baseline."""
        return shared_baseline()

    def load_official(self, state_dict: Mapping[str, Tensor]) -> None:
        """Load the official code's parameters; see `from_official`."""
        self.module.load_state_dict(from_official(state_dict, self.module.state_dict()))


def pomo(
    problem: Problem,
    *,
    embedding_dim: int = 128,
    head_num: int = 8,
    qkv_dim: int = 16,
    encoder_layer_num: int = 6,
    ff_hidden_dim: int = 512,
    logit_clipping: float = 10.0,
) -> POMO:
    """Build POMO for a problem; the options have the names of the official code.

    Parameters
    ----------
    problem
        The problem, e.g. ``lco.problem("cvrp")``.
    embedding_dim, head_num, qkv_dim, encoder_layer_num, ff_hidden_dim
        Widths, and numbers of heads and layers.
    logit_clipping
        The largest magnitude of a logit.

    Raises
    ------
    ConfigError
        If an option is not above zero.
    """
    options: dict[str, Any] = {
        "embedding_dim": embedding_dim,
        "head_num": head_num,
        "qkv_dim": qkv_dim,
        "encoder_layer_num": encoder_layer_num,
        "ff_hidden_dim": ff_hidden_dim,
        "logit_clipping": logit_clipping,
    }
    above_zero("solver 'pomo'", options)
    return POMO(problem=problem, module=Network(problem, **options))
