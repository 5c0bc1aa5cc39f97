"""A problem that is checked at each call: its functions only read what they get."""

from collections.abc import Callable
from typing import Any

import attrs
import torch

from lifelong_co.protocols import Problem
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect

READERS = frozenset(
    {
        *("size", "reset", "starts", "step", "feasible", "strictly_feasible", "unfinished", "done"),
        *("cost", "features", "context", "augment"),
    }
)
"""The functions of a problem that get records."""


class ReadOnlyProblem:
    """A problem whose functions fail a check if they change the instances or the state.

    Parameters
    ----------
    problem
        What it calls.
    check
        The name of the check.
    """

    def __init__(self, problem: Problem, check: str) -> None:
        self._problem = problem
        self._check = check

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also of an object that `copy` has not filled yet
            raise AttributeError(name)
        found = getattr(self._problem, name)
        return self._reading(name, found) if name in READERS else found

    def _reading(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            read = [each for each in (*given, *named.values()) if attrs.has(type(each))]
            before = [records.transform(each, torch.clone) for each in read]
            result = function(*given, **named)
            for was, now in zip(before, read, strict=True):
                for field in records.changed(was, now):
                    state = isinstance(now, self._problem.state_type)
                    what = "state" if state else "instances"
                    expected = f"{name}(…) that leaves its {what} unchanged"
                    expect(False, self._check, expected, f"a changed {field}")
            return result

        return call
