"""Fine-tuning, restart, and what all methods share."""

from pathlib import Path
from typing import Any

import pytest
from tiny_runs import BATCHES, EPOCHS, parameters, same, tiny_config, tiny_learn
from torch import Tensor

import lifelong_co as lco
from lifelong_co import learner as loop
from lifelong_co.runs.run import Run

METHODS = ("fine-tuning", "restart", "llr-bc")


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


def test_restart_begins_every_task_with_the_initial_parameters(
    tmp_path: Path, beginnings: list[dict[str, Tensor]]
) -> None:
    """Before each task the parameters are those before the first."""
    run = tiny_learn(tiny_config("restart", sizes=(5, 6, 5)), tmp_path)
    assert len(beginnings) == 3
    assert same(beginnings[0], beginnings[1])
    assert same(beginnings[0], beginnings[2])
    assert not same(beginnings[0], parameters(run))


@pytest.mark.parametrize("method", ["fine-tuning", "llr-bc"])
def test_the_others_go_on_from_the_last_task(
    tmp_path: Path, beginnings: list[dict[str, Tensor]], method: str
) -> None:
    """The second task begins where the first ended."""
    one = tiny_learn(tiny_config(method, sizes=(5,)), tmp_path / "one")
    beginnings.clear()
    tiny_learn(tiny_config(method, sizes=(5, 6)), tmp_path / "two")
    assert not same(beginnings[0], beginnings[1])
    assert same(beginnings[1], parameters(one))


@pytest.mark.parametrize("method", ["fine-tuning", "restart"])
def test_nothing_is_added_to_the_loss(tmp_path: Path, method: str) -> None:
    """The only losses are the policy's, and there is nothing to save."""
    losses: list[dict[str, float]] = []
    run = tiny_learn(tiny_config(method), tmp_path, on_step=lambda _, each: losses.append(each))
    assert len(losses) == 2 * EPOCHS * BATCHES
    assert all(set(each) == {"cost", "policy"} for each in losses)
    assert run.method.state_dict() == {}
    assert run.method.observer(run.learner, None) is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_the_same_run_twice(tmp_path: Path, method: str, problem: str) -> None:
    """Same configuration, same bits; another seed, others."""
    config = tiny_config(method, problem)
    runs = [tiny_learn(config, tmp_path / name) for name in ("first", "second")]
    assert same(*(parameters(run) for run in runs))
    assert runs[0].costs == runs[1].costs


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_option_is_refused(method: str) -> None:
    """The error names method and option."""
    with pytest.raises(lco.ConfigError, match=f"method '{method}'.*'beta'"):
        lco.method(method, beta=1)
