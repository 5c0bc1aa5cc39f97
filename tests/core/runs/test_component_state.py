"""An error in the state of a component names it."""

from pathlib import Path

import attrs
import pytest
from tiny_runs import tiny_config

from lifelong_co.errors import CheckpointError, ComponentError
from lifelong_co.learner import learn
from lifelong_co.runs.component_state import named_state, restoring
from lifelong_co.runs.prepare import prepare


@pytest.mark.parametrize(
    ("part", "label"), [("method", "method 'fine-tuning'"), ("objective", "objective 'reinforce'")]
)
def test_object_in_a_state_is_refused_with_its_component(
    part: str, label: str, tmp_path: Path
) -> None:
    """The message says where in the state it is; no checkpoint is left."""
    run = prepare(tiny_config("fine-tuning"), tmp_path / "run")
    holds = attrs.evolve(getattr(run, part), state_dict=lambda: {"x": [object()]})
    setattr(run, part, holds)
    message = rf"^{label}: state_dict\(\)\['x'\]\[0\]: expected a dict.*, got builtins.object$"
    with pytest.raises(ComponentError, match=message):
        learn(run)
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


@pytest.mark.parametrize("part", ["method", "objective"])
def test_state_that_cannot_be_restored_is_refused_with_its_component(part: str) -> None:
    """Resuming says it of the checkpoint; errors of ours stay."""
    said = rf"^{part} 'x': load_state_dict\(\): KeyError: 'a'$"
    with pytest.raises(ValueError, match=said), restoring(part, "x"):
        raise KeyError("a")
    with pytest.raises(CheckpointError, match=r"^mine$"), restoring(part, "x"):
        raise CheckpointError("mine")


def test_other_errors_stay() -> None:
    """A full disk is no fault of a component."""
    error = CheckpointError("x: could not be written (tree['method'])")
    with pytest.raises(CheckpointError) as raised, named_state(tiny_config()):
        raise error
    assert raised.value is error
