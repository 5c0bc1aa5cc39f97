"""A pretraining in motion: built from its configuration, saved, and restored to the same bytes."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError
from lifelong_co.pretraining.algorithms import ALGORITHMS, Algorithm
from lifelong_co.pretraining.inner import Inner
from lifelong_co.pretraining.settings import Settings, settings_of
from lifelong_co.protocols import LearnerState, Objective, Solver
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.resume import resume
from lifelong_co.runs.run import Log, new_solver
from lifelong_co.seeding import generator
from lifelong_co.storage import checkpoint
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.stream import TaskStream, task_stream


@attrs.define(kw_only=True, eq=False)
class Pretraining:
    """A pretraining in motion: all that a checkpoint holds."""

    config: Config
    settings: Settings
    algorithm: Algorithm
    inner: Inner
    folder: RunFolder
    learner: LearnerState
    """Its optimizer is the outer one, its parameters ``theta``."""
    objective: Objective
    choices: torch.Generator
    """Stream of the tasks drawn."""
    stream: TaskStream
    """Draws the training batches."""
    actions: torch.Generator
    """Stream of the sampled actions."""
    tests: list[list[Any]]
    """Test instances of every task."""
    iteration: int = 0
    """Steps of ``theta`` so far."""
    sums: dict[str, float] = attrs.field(factory=dict)
    """Sums since the last validation."""
    history: list[dict[str, Any]] = attrs.field(factory=list)
    """One entry for each validation: the lines of ``log.jsonl``."""

    @property
    def solver(self) -> Solver:
        """The solver, with the parameters ``theta``."""
        return self.learner.solver

    @property
    def theta(self) -> dict[str, Tensor]:
        """The meta-parameters: those of the solver that are not frozen."""
        named = self.solver.module.named_parameters()
        return {name: value for name, value in named if value.requires_grad}


def start(config: Config, path: Path) -> Pretraining:
    """Build everything; all of it follows from the configuration."""
    settings = settings_of(config, path)
    if not config.tasks:
        raise ConfigError("tasks: expected at least one to meta-train on, got none")
    for task in config.tasks:
        if task.drift_from:
            raise ConfigError(
                f"task {task.label}: expected one that does not drift, as pretraining has no order,"
                f" got drift_from={task.drift_from!r}"
            )
    algorithm = ALGORITHMS[config.method]
    problem = registry.problem(config.problem)
    solver = new_solver(config, problem)  # with the first parameters of a run with this seed
    instances = generator(config.seed, "pretraining instances", config.device)
    stream = task_stream(config.tasks, problem, instances, config.device)
    learner = LearnerState(
        problem=problem,
        solver=solver,
        optimizer=algorithm.optimizer(
            solver.module.parameters(), settings.meta_learning_rate, config.weight_decay
        ),
        initial=copy.deepcopy(solver.module.state_dict()),
        tasks=config.tasks,
        stream=stream,
        seed=config.seed,
    )
    return Pretraining(
        config=config,
        settings=settings,
        algorithm=algorithm,
        inner=settings.inner(config.weight_decay),
        folder=RunFolder(path),
        learner=learner,
        objective=solver.objective(),
        choices=generator(config.seed, "pretraining tasks"),
        stream=stream,
        actions=generator(config.seed, "pretraining actions", config.device),
        tests=[testing(task, problem, config.tests) for task in config.tasks],
    )


def save(state: Pretraining) -> None:
    """Write the log and a checkpoint of all there is."""
    state.folder.write_log(state.history)
    learner = state.learner
    checkpoint.save(
        state.folder.checkpoints,
        state.iteration,
        {
            "iteration": state.iteration,
            "parameters": learner.solver.module.state_dict(),
            "optimizer": learner.optimizer.state_dict(),
            "objective": state.objective.state_dict(),
            "choices": state.choices.get_state(),
            "instances": state.stream.generator.get_state(),
            "actions": state.actions.get_state(),
            "sums": state.sums,
            "log": state.history,
        },
    )


def restore(state: Pretraining, log: Log) -> bool:
    """Continue from the latest checkpoint that is whole; return False when there is none.

    Raises
    ------
    CheckpointError
        If checkpoints are there and none is whole, or the one that is belongs to another run.
    """
    path = resume(state.folder, lambda saved: load(state, saved), log)
    if path is None:
        return False
    log(f"continuing after iteration {state.iteration} from {path}")
    return True


def load(state: Pretraining, saved: Mapping[str, Any]) -> None:
    """Put in place what `save` has written."""
    learner = state.learner
    learner.solver.module.load_state_dict(saved["parameters"])
    learner.optimizer.load_state_dict(saved["optimizer"])
    state.objective.load_state_dict(learner, saved["objective"])
    state.choices.set_state(saved["choices"])
    state.stream.generator.set_state(saved["instances"])
    state.actions.set_state(saved["actions"])
    state.iteration, state.sums, state.history = saved["iteration"], saved["sums"], saved["log"]
    learner.epoch = len(state.history) - 1  # the first entry is from before the first epoch
