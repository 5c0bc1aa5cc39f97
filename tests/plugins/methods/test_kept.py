"""The states of a method's parts are one state."""

from collections.abc import Mapping
from typing import Any

import attrs
from lifelong_co_plugins.methods.kept import Kept

from lifelong_co.protocols import LearnerState

NOBODY: Any = None


@attrs.define
class Counted:
    """A part that keeps a number under a key."""

    key: str
    count: int

    def state_dict(self) -> dict[str, Any]:
        """Return the number."""
        return {self.key: self.count}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Take the number."""
        self.count = state[self.key]


def test_states_of_parts_lie_side_by_side_or_under_a_name() -> None:
    """Each part gets back what it has given."""
    state = Kept(Counted("a", 1), Counted("b", 2), inner=Counted("a", 3)).state_dict()
    assert state == {"a": 1, "b": 2, "inner": {"a": 3}}
    parts = Counted("a", 0), Counted("b", 0), Counted("a", 0)
    Kept(*parts[:2], inner=parts[2]).load_state_dict(NOBODY, state)
    assert [part.count for part in parts] == [1, 2, 3]
