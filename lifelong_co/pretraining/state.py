"""The state of a pretraining: built from its configuration, saved, and restored exactly."""

import copy
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.errors import ConfigError
from lifelong_co.pretraining.algorithms import ALGORITHMS, Algorithm
from lifelong_co.pretraining.inner import Inner
from lifelong_co.pretraining.settings import Settings, settings_of
from lifelong_co.protocols import LearnerState, Objective, Solver
from lifelong_co.runs.component_state import named_state
from lifelong_co.runs.folder import RunFolder, with_all_options
from lifelong_co.runs.journal import LOG
from lifelong_co.runs.resume import resume
from lifelong_co.runs.run import Log, new_solver
from lifelong_co.runs.settings import refuse_others
from lifelong_co.seeding import generator
from lifelong_co.storage import checkpoint
from lifelong_co.storage.appended import Appended
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.stream import TaskStream, task_stream


@attrs.define(kw_only=True, eq=False)
class Pretraining:
    """The state of a pretraining that is running."""

    config: Config
    settings: Settings
    algorithm: Algorithm
    inner: Inner
    folder: RunFolder
    learner: LearnerState
    """Its optimizer is the outer optimizer, and its solver has the parameters ``theta``."""
    objective: Objective
    choices: torch.Generator
    """Random stream of the choice of tasks."""
    stream: TaskStream
    """Draws the training batches."""
    actions: torch.Generator
    """Random stream of the sampled actions."""
    tests: list[list[Any]]
    """Test instances of every task, one batch per size."""
    iteration: int = 0
    """Updates of ``theta`` so far."""
    sums: dict[str, float] = attrs.field(factory=dict)
    """Sums since the last validation."""
    lines: Appended
    """The file ``log.jsonl``."""
    history: list[dict[str, Any]] = attrs.field(factory=list)
    """One entry for each validation: the lines of ``log.jsonl``."""

    @property
    def solver(self) -> Solver:
        """The solver, with the parameters ``theta``."""
        return self.learner.solver

    @property
    def theta(self) -> dict[str, Tensor]:
        """The meta-parameters: the parameters of the solver that are not frozen."""
        named = self.solver.module.named_parameters()
        return {name: value for name, value in named if value.requires_grad}


def start(config: Config, path: Path) -> Pretraining:
    """Return a new pretraining; it depends on nothing but the configuration.

    Raises
    ------
    ConfigError, UnknownNameError
        If the configuration has an invalid value or name, no task, or a task that drifts.
    """
    settings = settings_of(config, path)
    if not config.tasks:
        raise ConfigError("tasks: expected at least one to meta-train on, got none")
    for task in config.tasks:
        if task.drift_from:
            raise ConfigError(
                f"task {task.label}: expected no drift, because the tasks of a pretraining have no"
                f" order, got drift_from={task.drift_from!r}"
            )
    algorithm = ALGORITHMS[config.method]
    problem = registry.problem(config.problem)
    solver = new_solver(config, problem)  # the same initial parameters as a run with this seed
    instances = generator(config.seed, "pretraining instances", config.device)
    stream = task_stream(config.tasks, problem, instances, config.device, config.symmetries)
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
        lines=Appended(path / LOG),
        learner=learner,
        objective=solver.objective(),
        choices=generator(config.seed, "pretraining tasks"),
        stream=stream,
        actions=generator(config.seed, "pretraining actions", config.device),
        tests=[testing(task, problem, config.tests) for task in config.tasks],
    )


def save(state: Pretraining) -> None:
    """Append to the log and write a checkpoint of the whole state."""
    state.lines.append(text_of(state)[state.lines.size :])
    learner = state.learner
    with named_state(state.config):
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
                "settings": to_toml(with_all_options(state.config)),
                "sums": state.sums,
                "log": state.history,
            },
        )


def text_of(state: Pretraining) -> str:
    """Return the content of ``log.jsonl``; all its characters are ASCII, as JSON escapes others."""
    return "".join(json.dumps(entry) + "\n" for entry in state.history)


def restore(state: Pretraining, log: Log) -> bool:
    """Continue from the latest complete checkpoint; return False if there is no checkpoint.

    Raises
    ------
    CheckpointError
        If there are checkpoints and none is complete, or the latest belongs to another run.
    """
    path = resume(state.folder, lambda saved: load(state, saved), log)
    if path is None:
        return False
    saved = text_of(state).encode()
    found = Appended.reopen(state.lines.path, len(saved), hashlib.sha256(saved).hexdigest())
    if found is None:  # damaged or missing
        state.lines.append(saved.decode())
    else:
        state.lines = found
    log(f"continuing after iteration {state.iteration} from {path}")
    return True


def load(state: Pretraining, saved: Mapping[str, Any]) -> None:
    """Restore the state that `save` has written.

    Raises
    ------
    ConfigError
        If the pretraining was started with other settings.
    """
    refuse_others(saved["settings"], to_toml(state.config))
    learner = state.learner
    learner.solver.module.load_state_dict(saved["parameters"])
    learner.optimizer.load_state_dict(saved["optimizer"])
    state.objective.load_state_dict(learner, saved["objective"])
    state.choices.set_state(saved["choices"])
    state.stream.generator.set_state(saved["instances"])
    state.actions.set_state(saved["actions"])
    state.iteration, state.sums, state.history = saved["iteration"], saved["sums"], saved["log"]
    learner.epoch = len(state.history) - 1  # the first entry is from before the first epoch
