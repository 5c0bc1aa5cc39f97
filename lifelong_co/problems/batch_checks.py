"""Checks that actions and states are those of a batch of instances.

`gather` and `scatter` take fewer rows or trajectories without a word, and results are then those of
other instances.
"""

import torch
from torch import Tensor

from lifelong_co.errors import InvalidInstancesError


def require_actions(actions: object, rows: int) -> None:
    """Raise `InvalidInstancesError` unless actions are long ``[B, S, T]`` with ``B = rows``."""
    if not isinstance(actions, Tensor) or actions.ndim != 3 or actions.dtype != torch.long:
        shape = list(getattr(actions, "shape", ()))
        came = f"{type(actions).__name__} of {getattr(actions, 'dtype', 'no type')} {shape}"
        raise InvalidInstancesError(
            f"actions: expected a long tensor [B, S, T], got a {came}", "actions"
        )
    _require_same("actions", len(actions), rows)


def require_state(current: Tensor, rows: int) -> None:
    """Raise `InvalidInstancesError` unless a state at ``current [B, S]`` has ``B = rows``."""
    _require_same("state", len(current), rows)


def require_action(action: Tensor, current: Tensor, rows: int) -> None:
    """Check an action of a state at ``current [B, S]``, as the other functions.

    Raises
    ------
    InvalidInstancesError
        If ``action`` is not ``[B, S]``, or ``B`` is not ``rows``.
    """
    require_state(current, rows)
    if action.shape != current.shape:
        expected, came = list(current.shape), list(action.shape)
        raise InvalidInstancesError(f"action: expected [B, S] = {expected}, got {came}", "action")


def _require_same(name: str, came: int, rows: int) -> None:
    if came != rows:
        raise InvalidInstancesError(
            f"{name}: expected {rows} rows, one for each instance, got {came}", name
        )
