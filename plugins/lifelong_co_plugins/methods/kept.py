"""What a method keeps between steps: the states of its parts as one state."""

from collections.abc import Mapping
from typing import Any, Protocol

from lifelong_co.protocols import LearnerState


class Part(Protocol):
    """A part of a method that has a state."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state as nested dicts and lists of tensors and JSON values."""
        ...

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        ...


class Kept:
    """The parts of a method, with the two functions that `protocols.Method` needs.

    Parameters
    ----------
    *beside
        Parts whose states lie side by side in the state, so their keys must differ.
    **named
        Parts whose states have a name there.
    """

    def __init__(self, *beside: Part, **named: Part) -> None:
        self._beside = beside
        self._named = named

    def state_dict(self) -> dict[str, Any]:
        """Return the states of all parts."""
        found = {name: part.state_dict() for name, part in self._named.items()}
        for part in self._beside:
            found |= part.state_dict()
        return found

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        for name, part in self._named.items():
            part.load_state_dict(learner, state[name])
        for part in self._beside:
            part.load_state_dict(learner, state)
