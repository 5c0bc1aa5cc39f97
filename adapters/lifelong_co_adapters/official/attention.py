"""What the official POMO and Omni have in common: their network class behind our `Solver`.

Their module keeps what it made of a batch in attributes of its decoder. Here that is moved to the
encoding after encoding and back for each step, so that the policy has no memory of its own and
the module can be copied at any time.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import torch
from torch import Tensor, nn

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Decode, Objective, Problem, Rollout
from lifelong_co.reinforce import shared_baseline
from lifelong_co.rollout.decoding import multi_start
from lifelong_co.validators import above_zero
from lifelong_co_adapters.official.loading import load
from lifelong_co_adapters.official.parameters import load_exactly

MODULES = {"tsp": "TSPModel", "cvrp": "CVRPModel"}
"""Problem to the official module and its class, which have one name."""

NUMBERS = (
    "embedding_dim",
    "head_num",
    "qkv_dim",
    "encoder_layer_num",
    "ff_hidden_dim",
    "logit_clipping",
)
"""The ``model_params`` that are numbers, all above zero."""

RESET_STATES: dict[str, Callable[[Any], SimpleNamespace]] = {
    "tsp": lambda instances: SimpleNamespace(problems=instances.nodes),
    "cvrp": lambda instances: SimpleNamespace(
        depot_xy=instances.depot, node_xy=instances.nodes, node_demand=instances.demand
    ),
}
"""What ``pre_forward`` reads of the official environment's reset state."""

CACHES = ("k", "v", "single_head_key", "q_first")
"""The attributes that the decoder keeps of a batch; ``q_first`` is the TSP's only."""


@attrs.frozen(eq=False)
class Encoding:
    """A batch and what the official network keeps of it."""

    instances: Any
    nodes: Tensor
    """``[B, A, embedding_dim]``."""
    caches: dict[str, Tensor]
    """By attribute of the decoder; ``q_first`` ``[B, H, A, d]`` for every first node."""


@attrs.frozen(eq=False)
class OfficialAttention:
    """An official ``TSPModel`` or ``CVRPModel``, unchanged; build it with `build`."""

    problem: Problem
    module: nn.Module

    def encode(self, instances: Any) -> Encoding:
        """Call their ``pre_forward`` and keep what it left in the decoder."""
        module: Any = self.module
        with emptied_after(module), recognizable(module):
            module.pre_forward(RESET_STATES[self.problem.name](instances))
            nodes: Tensor = module.encoded_nodes
            if "first" in self.problem.context_nodes:
                module.decoder.set_q1(nodes)
            caches = {
                name: value
                for name in CACHES
                if (value := getattr(module.decoder, name, None)) is not None
            }
        return Encoding(instances, nodes, caches)

    def log_probs(self, encoding: Encoding, state: Any) -> Tensor:
        """Return ``[B, S, A]`` of their decoder, -inf where infeasible.

        Where a trajectory is nowhere yet (TSP, before its forced start) the behavior is uniform.
        """
        module: Any = self.module
        feasible = self.problem.feasible(encoding.instances, state)
        context = self.problem.context(state)
        mask = torch.zeros_like(feasible, dtype=encoding.nodes.dtype)
        mask = mask.masked_fill(~feasible, -torch.inf)
        caches = dict(encoding.caches)
        if "first" in context.nodes:
            caches["q_first"] = rows(caches["q_first"], context.nodes["first"][:, None])
        arguments = [rows(encoding.nodes, context.nodes["last"])]
        if context.scalars is not None:
            arguments.append(context.scalars[..., 0])
        with emptied_after(module):
            for name, value in caches.items():
                setattr(module.decoder, name, value)
            probs: Tensor = module.decoder(*arguments, ninf_mask=mask)
        if context.nowhere is not None:
            uniform = feasible / feasible.sum(dim=2, keepdim=True)
            probs = torch.where(context.nowhere[..., None], uniform.to(probs.dtype), probs)
        # Infeasible ones are replaced before the logarithm, whose gradient at 0 would be NaN.
        # Feasible ones can only be 0 by underflow.
        smallest = torch.finfo(probs.dtype).tiny
        log_probs = torch.where(feasible, probs, 1.0).clamp(min=smallest).log()
        return log_probs.masked_fill(~feasible, -torch.inf)

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        """Solve with one trajectory from every node, or from the first ``trajectories`` nodes."""
        return multi_start(self, instances, decode, **options)

    def objective(self) -> Objective:
        """Return REINFORCE with the shared baseline."""
        return shared_baseline()

    def load_official(self, state_dict: Mapping[str, Tensor]) -> None:
        """Load the official code's parameters; see `load_exactly`."""
        load_exactly(self.module, state_dict)


def build(
    name: str, problem: Problem, folders: Callable[[], dict[str, Path]], **options: Any
) -> OfficialAttention:
    """Build an official network.

    Parameters
    ----------
    name
        The solver's, named in errors.
    problem
        TSP or CVRP.
    folders
        Gives, by problem, where the official module lies; called once the options are good.
    **options
        The official ``model_params``; numbers must be above zero.

    Raises
    ------
    ConfigError
        If the problem or an option cannot be used, or the official code is not there.
    """
    if problem.name not in MODULES:
        raise ConfigError(
            f"solver {name!r}: problem: expected {' or '.join(MODULES)}, got {problem.name!r}"
        )
    above_zero(name, {key: value for key, value in options.items() if key in NUMBERS})
    module = MODULES[problem.name]
    network = getattr(load(folders()[problem.name], module), module)
    root = options["embedding_dim"] ** 0.5
    return OfficialAttention(
        problem=problem,
        module=network(**options, sqrt_embedding_dim=root, eval_type="argmax"),
    )


@contextlib.contextmanager
def emptied_after(module: Any) -> Iterator[None]:
    """Let go, at the end, of what an official network keeps of a batch."""
    try:
        yield
    finally:
        module.encoded_nodes = None
        for name in CACHES:
            if hasattr(module.decoder, name):
                setattr(module.decoder, name, None)


@contextlib.contextmanager
def recognizable(module: nn.Module) -> Iterator[None]:
    """Let plain tensors in the place of parameters pass for parameters.

    Omni's encoder tells ``rezero`` from ``none`` by ``isinstance(self.norm, nn.Parameter)``, which
    is wrong where `lifelong_co.functional.with_parameters` has put other tensors.
    """
    replaced = [
        (parameters, name, tensor)
        for part in module.modules()
        for parameters in (cast(dict[str, Tensor | None], part._parameters),)
        for name, tensor in parameters.items()
        if tensor is not None and not isinstance(tensor, nn.Parameter)
    ]
    for parameters, name, tensor in replaced:
        alias: Any = tensor.view_as(tensor)  # gradients pass; the caller's tensor stays unmarked
        alias._is_param = True  # what `isinstance` looks for
        parameters[name] = alias
    try:
        yield
    finally:
        for parameters, name, tensor in replaced:
            parameters[name] = tensor


def rows(table: Tensor, index: Tensor) -> Tensor:
    """Return the rows ``[..., S, d]`` of ``table [..., A, d]`` at ``index`` long ``[..., S]``."""
    index = index[..., None]
    return table.gather(-2, index.expand(*table.shape[:-2], index.shape[-2], table.shape[-1]))
