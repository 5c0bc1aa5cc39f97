"""Observers of a rollout may only read: the decoding goes on with the same tensors."""

from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ComponentError
from lifelong_co.protocols import Observer
from lifelong_co.tensors import records


def read_only(observe: Observer, label: str) -> Observer:
    """Return an observer that raises an error if the given one changes what it sees.

    Parameters
    ----------
    observe
        Any observer.
    label
        Begins the message, e.g. ``method 'mine'``.

    Raises
    ------
    ComponentError
        In a call of the result, if the state or the log-probabilities have changed.
    """

    def watched(state: Any, log_probs: Tensor) -> None:
        if changed := changed_by(observe, state, log_probs):
            raise ComponentError(
                f"{label}: expected an observer that only reads the state and the log_probs of a"
                f" decoding step, got one that changes {', '.join(changed)}"
            )

    return watched


def changed_by(observe: Observer, state: Any, log_probs: Tensor) -> list[str]:
    """Call an observer, and return the names of what it has changed, e.g. ``state.visited``."""
    before, likely = records.transform(state, torch.clone), log_probs.detach().clone()
    observe(state, log_probs)
    changed = [f"state.{name}" for name in records.changed(before, state)]
    return changed if records.same(likely, log_probs) else [*changed, "log_probs"]


@attrs.define
class Counted:
    """An observer that counts its calls."""

    observe: Observer
    calls: int = 0

    def __call__(self, state: Any, log_probs: Tensor) -> None:
        """Pass a decoding step on."""
        self.calls += 1
        self.observe(state, log_probs)
