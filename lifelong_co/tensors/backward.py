"""The backward pass of a loss term."""

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
