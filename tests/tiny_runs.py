"""Runs that take a fraction of a second: a tiny POMO on tasks of a few nodes."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from torch import Tensor, nn

from lifelong_co.config.run_config import Config
from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run, new_optimizer, start
from lifelong_co.tasks.stream import TaskStream
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records

MODEL = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 4,
    "encoder_layer_num": 1,
    "ff_hidden_dim": 16,
}
EPOCHS, BATCHES, BATCH_SIZE = 2, 2, 4


def tiny_config(
    method: str = "llr-bc", problem: str = "tsp", sizes: tuple[int, ...] = (5, 6), **options: Any
) -> Config:
    """Return a run of uniform tasks of these sizes."""
    return Config(
        solver="pomo",
        problem=problem,
        method=method,
        preset="tiny",
        order="tiny",
        seed=0,
        device="cpu",
        tests=3,
        curve_every=100,
        learning_rate=1e-2,
        solver_options=dict(MODEL),
        method_options=options,
        tasks=tuple(
            Task(distribution="U", size=n, epochs=EPOCHS, batches=BATCHES, batch_size=BATCH_SIZE)
            for n in sizes
        ),
    )


def fine_tuning(folder: Path, **settings: Any) -> Run:
    """Return a run of fine-tuning about to begin."""
    config = attrs.evolve(tiny_config("fine-tuning", sizes=(5, 6)), **settings)
    return prepare(config, folder / "run")


SIZES = (4, 5, 6)
"""The sizes of `longer`."""


def longer(method: str, epochs: int, **options: Any) -> Config:
    """Return a run of three tasks with different sizes and batch sizes, each of four batches."""
    config = tiny_config(method, sizes=SIZES, **options)
    tasks = (
        attrs.evolve(task, epochs=epochs, batches=4, batch_size=2 + j)
        for j, task in enumerate(config.tasks)
    )
    return attrs.evolve(config, tasks=tuple(tasks))


def begun(folder: Path, config: Config, seed: int = 0) -> Run:
    """Return a run that has taken no step."""
    return start(attrs.evolve(config, seed=seed), RunFolder(folder / "run"))


def nudge(module: nn.Module, by: float) -> None:
    """Move every parameter away from zero."""
    with torch.no_grad():
        for value in module.parameters():
            value += by * torch.sign(value)


def tiny_learn(config: Config, folder: Path, **keywords: Any) -> Run:
    """Learn all tasks."""
    return learn(prepare(config, folder / "run"), **keywords)


def stopped_and_resumed(config: Config, folder: Path, after: int) -> Run:
    """Learn all tasks, but stop after ``after`` steps and resume."""
    steps: list[int] = []
    with pytest.raises(Interrupted):
        learn(
            prepare(config, folder / "stopped"),
            on_step=lambda run, _: steps.append(run.steps),
            stop=lambda: len(steps) == after,
        )
    return learn(prepare(config, folder / "stopped", resume=True))


@attrs.frozen
class Doubled:
    """A stream whose batches are in double precision."""

    single: TaskStream

    def batch(self, task: int, step: int, size: int | None = None) -> Any:
        """Return a batch in double precision."""
        return records.transform(self.single.batch(task, step, size), _double)


def exact_run(config: Config, folder: Path) -> Run:
    """Return a new run in float64, so that two ways to compute the same thing agree."""
    run = start(config, RunFolder(folder / "run"))
    learner = run.learner
    learner.solver.module.double()
    learner.stream = Doubled(run.stream)
    learner.optimizer = new_optimizer(config, learner)
    return run


def parameters(run: Run) -> dict[str, Tensor]:
    """Return a copy of the solver's parameters."""
    state = run.learner.solver.module.state_dict()
    return {name: value.clone() for name, value in state.items()}


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    """Return whether two sets of parameters are the same bits."""
    return first.keys() == second.keys() and all(
        torch.equal(value, second[name]) for name, value in first.items()
    )


def _double(tensor: Tensor) -> Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor
