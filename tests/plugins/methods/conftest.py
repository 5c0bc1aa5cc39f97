"""What tests of several methods observe in a run."""

from typing import Any

import pytest
from tiny_runs import parameters
from torch import Tensor

from lifelong_co import learner as loop
from lifelong_co.runs.run import Run


@pytest.fixture
def beginnings(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Tensor]]:
    """Return a list that gets the parameters before the first step of every task."""
    found: list[dict[str, Tensor]] = []
    original = loop.train_epoch

    def spy(run: Run, *arguments: Any) -> None:
        if run.learner.epoch == 0:
            found.append(parameters(run))
        original(run, *arguments)

    monkeypatch.setattr(loop, "train_epoch", spy)
    return found
