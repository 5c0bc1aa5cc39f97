"""Fine-tuning: each task goes on from the last one, and nothing is added to the loss."""

from pathlib import Path

import pytest
from tiny_runs import BATCHES, EPOCHS, parameters, same, tiny_config, tiny_learn
from torch import Tensor


@pytest.mark.parametrize("method", ["fine-tuning", "llr-bc"])
def test_task_starts_where_the_previous_one_ended(
    tmp_path: Path, beginnings: list[dict[str, Tensor]], method: str
) -> None:
    """Fine-tuning and LLR-BC keep the parameters."""
    one = tiny_learn(tiny_config(method, sizes=(5,)), tmp_path / "one")
    beginnings.clear()
    tiny_learn(tiny_config(method, sizes=(5, 6)), tmp_path / "two")
    assert not same(beginnings[0], beginnings[1])
    assert same(beginnings[1], parameters(one))


@pytest.mark.parametrize("method", ["fine-tuning", "restart"])
def test_loss_has_no_added_terms(tmp_path: Path, method: str) -> None:
    """The only losses are the policy's, and there is no state to save."""
    losses: list[dict[str, float]] = []
    run = tiny_learn(tiny_config(method), tmp_path, on_step=lambda _, each: losses.append(each))
    assert len(losses) == 2 * EPOCHS * BATCHES
    assert all(set(each) == {"cost", "policy"} for each in losses)
    assert run.method.state_dict() == {}
    assert run.method.observer(run.learner, None) is None
