"""The backward pass of a loss term, and the tensors that it reaches."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from lifelong_co.errors import ComponentError


def differentiate(label: str, term: Tensor) -> None:
    """Add the gradients of a method's loss term.

    Raises
    ------
    ComponentError
        If the term shares a graph with the rollout or an earlier term, which is free by then; the
        message begins with ``label``.
    """
    try:
        term.backward()
    except RuntimeError as error:
        if "backward through the graph a second time" not in str(error):
            raise
        raise ComponentError(
            f"{label}: expected a separate graph, got one that shares nodes with the rollout or"
            " another term; detach them, or solve the instances again"
        ) from error


def leaves(found: Tensor) -> Iterator[Tensor]:
    """Yield the tensors into which gradients flow from a tensor, each once."""
    seen: set[Any] = set()
    open_nodes = [found.grad_fn]
    while open_nodes:
        node = open_nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)  # of AccumulateGrad
        if leaf is not None:
            yield leaf
        open_nodes += [following for following, _ in node.next_functions]
