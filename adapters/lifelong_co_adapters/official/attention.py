"""The common part of the official POMO and Omni: their network as a `Solver`.

Their module keeps the tensors of a batch in attributes of its decoder. Here these tensors are moved
to the encoding, and back to the decoder in each step. So the policy has no memory, and the module
can be copied at any time.
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
"""The official module of each problem; its class has the same name."""

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
"""The fields of the official environment's reset state that ``pre_forward`` reads."""

CACHES = ("k", "v", "single_head_key", "q_first")
"""The decoder's attributes that keep the tensors of a batch; ``q_first`` only for the TSP."""


@attrs.frozen(eq=False)
class Encoding:
    """A batch, and the tensors that the official network keeps of it."""

    instances: Any
    nodes: Tensor
    """``[B, A, embedding_dim]``."""
    caches: dict[str, Tensor]
    """Tensors by attribute of the decoder; ``q_first`` ``[B, H, A, d]``, for every first node."""


@attrs.frozen(eq=False)
class OfficialAttention:
    """An official ``TSPModel`` or ``CVRPModel``, unchanged; build it with `build`."""

    problem: Problem
    module: nn.Module

    def encode(self, instances: Any) -> Encoding:
        """Call their ``pre_forward`` and keep the tensors that it stores in the decoder."""
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
        """Return ``[B, S, A]`` of their decoder, -inf where an action is infeasible.

        The behavior is uniform before the first action of a TSP, which a rollout forces.
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
        # Infeasible actions are replaced before the logarithm: its gradient at 0 would be NaN.
        # Feasible ones are 0 only by underflow.
        smallest = torch.finfo(probs.dtype).tiny
        log_probs = torch.where(feasible, probs, 1.0).clamp(min=smallest).log()
        return log_probs.masked_fill(~feasible, -torch.inf)

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        """Solve with one trajectory from every node, or from the first ``trajectories`` nodes.

        For the options see `multi_start`.
        """
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
        The solver's name, for errors.
    problem
        TSP or CVRP.
    folders
        Returns the folder of the official module for each problem; called after the options are
        checked.
    **options
        The official ``model_params``; numbers must be above zero.

    Raises
    ------
    ConfigError
        If the problem or an option cannot be used, or the official code is missing.
    """
    if problem.name not in MODULES:
        raise ConfigError(
            f"solver {name!r}: problem: expected {' or '.join(MODULES)}, got {problem.name!r}"
        )
    above_zero(f"solver {name!r}", {key: value for key, value in options.items() if key in NUMBERS})
    module = MODULES[problem.name]
    network = getattr(load(folders()[problem.name], module), module)
    root = options["embedding_dim"] ** 0.5
    return OfficialAttention(
        problem=problem,
        module=network(**options, sqrt_embedding_dim=root, eval_type="argmax"),
    )


@contextlib.contextmanager
def emptied_after(module: Any) -> Iterator[None]:
    """Remove, at the end, the tensors of a batch that an official network keeps."""
    try:
        yield
    finally:
        module.encoded_nodes = None
        for name in CACHES:
            if hasattr(module.decoder, name):
                setattr(module.decoder, name, None)


@contextlib.contextmanager
def recognizable(module: nn.Module) -> Iterator[None]:
    """Make ``isinstance(tensor, nn.Parameter)`` true for plain tensors in place of parameters.

    Omni's encoder uses ``isinstance(self.norm, nn.Parameter)`` to recognize ``rezero``. Without
    this, the test would fail where `lifelong_co.tensors.modules.with_parameters` has put plain
    tensors.
    """
    replaced = [
        (parameters, name, tensor)
        for part in module.modules()
        for parameters in (cast(dict[str, Tensor | None], part._parameters),)
        for name, tensor in parameters.items()
        if tensor is not None and not isinstance(tensor, nn.Parameter)
    ]
    for parameters, name, tensor in replaced:
        alias: Any = tensor.view_as(tensor)  # gradients flow; the caller's tensor gets no mark
        alias._is_param = True  # `isinstance` reads this mark
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
