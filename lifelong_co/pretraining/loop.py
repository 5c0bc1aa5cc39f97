"""The outer loop of meta-training, and its validation."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.errors import Interrupted, NotFiniteError
from lifelong_co.evaluation import mean_cost, named_test
from lifelong_co.pretraining.algorithms import Loss, adapt, leaves
from lifelong_co.pretraining.inner import Parameters, moments_of
from lifelong_co.pretraining.state import Pretraining, restore, save, start
from lifelong_co.runs import data_files, provenance, starts
from lifelong_co.runs.plugins_used import plugins_used
from lifelong_co.runs.run import Log, Stop
from lifelong_co.runs.warm_start import load_parameters
from lifelong_co.seeding import generator
from lifelong_co.tasks.stream import TaskStream
from lifelong_co.tensors.finiteness import fault, loss_numbers, step_numbers
from lifelong_co.tensors.modules import with_parameters

OnIteration = Callable[[Pretraining], None]


def pretrain(
    config: Config,
    folder: Path,
    *,
    resume: bool = False,
    stop: Stop = lambda: False,
    on_iteration: OnIteration = lambda state: None,  # noqa: ARG005
    log: Log = lambda line: None,  # noqa: ARG005
) -> Pretraining:
    """Meta-train a solver over the tasks of a configuration.

    Every iteration draws tasks, adapts to each of them, and updates the meta-parameters with the
    gradient of the algorithm (`algorithms`). All tasks share one objective of the solver. If it has
    a state, as a greedy baseline has, it starts once. Its epoch ends at every validation, each time
    on the next task.

    Parameters
    ----------
    config
        Made by `settings.configure`.
    folder
        The run folder: a new one, or with ``resume`` the folder of an interrupted pretraining.
    resume
        Continue from the latest complete checkpoint; without one, start from the beginning.
    stop
        Called after every iteration. When it returns True, the state is saved and `Interrupted`
        is raised.
    on_iteration
        Called after every iteration.
    log
        Called with the configuration, and with one line of text after every validation.

    Raises
    ------
    ConfigError, UnknownNameError, CheckpointError
        If the configuration, the folder or its checkpoint cannot be used.
    Interrupted
        If ``stop`` ended the pretraining.
    NotFiniteError, InvalidRolloutError
        As for `learner.learn`.
    """
    state = start(config, folder)
    if not resume:
        taken = take_parameters(state)  # before anything is written, because it may raise
        state.folder.create(config)
    files = data_files.checked(folder, config)
    log(to_toml(config))
    restored = resume and restore(state, log)
    data_files.keep(folder, files)
    if not restored:
        if resume:
            taken = take_parameters(state)
            starts.require_same(folder, config, taken)
        starts.keep(folder, taken)
    if state.iteration < state.settings.iterations:
        made = provenance.present(config.device, plugins=plugins_used(config))
        for warning in provenance.differences(folder, made) if resume else ():
            log(warning)
        provenance.note(folder, state.iteration, made)
    if not restored:
        state.objective.before_task(state.learner)
        validate(state, log)
    while state.iteration < state.settings.iterations:
        began = time.perf_counter()
        iterate(state)
        count(state, "seconds", time.perf_counter() - began)
        on_iteration(state)
        if (
            state.iteration % state.settings.validate_every == 0
            or state.iteration == state.settings.iterations
        ):
            end_epoch(state)
            validate(state, log)
        if stop():
            save(state)
            raise Interrupted(state.folder.path)
    return state


def take_parameters(state: Pretraining) -> dict[str, str]:
    """Start with the parameters of the run in ``start_from``, if the configuration has one.

    Returns the hash of its checkpoint by the name of the setting.
    """
    if not state.config.start_from:
        return {}
    path = load_parameters(state.solver.module, Path(state.config.start_from))
    return {"start_from": starts.digest(path)}


def iterate(state: Pretraining) -> None:
    """Update the meta-parameters once."""
    settings, optimizer, theta = state.settings, state.learner.optimizer, state.theta
    moments = moments_of(optimizer, theta)
    total: Parameters = {}
    for _ in range(settings.meta_batch):
        choice = torch.randint(len(state.config.tasks), (), generator=state.choices)
        loss = task_loss(state, int(choice), state.stream, state.actions, count)
        for name, gradient in state.algorithm.gradient(loss, theta, state.inner, moments).items():
            total[name] = total[name] + gradient if name in total else gradient
    for name, parameter in theta.items():
        parameter.grad = total[name] / settings.meta_batch
    part = state.algorithm.rate(state.iteration / settings.iterations)
    for group in optimizer.param_groups:
        group["lr"] = settings.meta_learning_rate * part
    optimizer.step()
    numbers = step_numbers({}, state.solver.module)
    require_finite(state, f"iteration {state.iteration + 1}", numbers)
    optimizer.zero_grad()
    state.iteration += 1


def task_loss(
    state: Pretraining,
    task: int,
    stream: TaskStream,
    actions: torch.Generator,
    note: Callable[[Pretraining, str, float], None] = lambda state, name, value: None,  # noqa: ARG005
) -> Loss:
    """Return a function that gives the policy loss of parameters on a new batch of a task."""
    state.learner.task = task

    def loss(parameters: Parameters) -> Tensor:
        # Any step: tasks of a pretraining do not drift, and no batch is the last one.
        batch = stream.batch(task, 0, stream.tasks[task].batch_size)

        def learn() -> Tensor:
            rollout = state.solver.rollout(batch, "sample", generator=actions)
            value = state.objective.loss(batch, rollout)
            cost = rollout.cost.min(dim=1).values.mean()
            where = f"iteration {state.iteration + 1}, task {state.config.tasks[task].label}"
            require_finite(state, where, loss_numbers({"cost": cost, "policy": value}))
            note(state, "batches", 1)
            note(state, "cost", float(cost))
            note(state, "loss", float(value.detach()))
            return value

        return with_parameters(state.solver.module, parameters, learn)

    return loss


def require_finite(state: Pretraining, where: str, numbers: dict[str, Tensor]) -> None:
    """Raise `NotFiniteError` if one of these scalars is not finite."""
    found = fault(where, numbers)
    if found:
        remedy = (
            "start a new pretraining with a lower inner_learning_rate (now "
            f"{state.settings.inner_learning_rate:g}) or meta_learning_rate (now"
            f" {state.settings.meta_learning_rate:g})"
        )
        raise NotFiniteError(state.folder.path, found, remedy)


def count(state: Pretraining, name: str, value: float) -> None:
    """Add to one of the sums since the last validation."""
    state.sums[name] = state.sums.get(name, 0.0) + value


def end_epoch(state: Pretraining) -> None:
    """End an epoch of the objective with the present parameters, each time on the next task."""
    learner = state.learner
    learner.task = learner.epoch % len(learner.tasks)
    state.objective.after_epoch(learner)
    learner.epoch += 1


def validate(state: Pretraining, log: Log) -> None:
    """Test on each task before and after adaptation to it, log the costs and save."""
    costs, adapted = {}, {}
    for index, task in enumerate(state.config.tasks):
        with named_test(
            f"task {task.label} after iteration {state.iteration} in {state.folder.path}, "
            f"by solver {state.config.solver!r}; nothing of it is saved"
        ):
            costs[task.label], adapted[task.label] = validate_task(state, index)
    entry: dict[str, Any] = {"iteration": state.iteration, "costs": costs, "adapted_costs": adapted}
    batches = state.sums.get("batches", 0.0)
    if batches:
        entry["train_cost"] = state.sums["cost"] / batches
        entry["losses"] = {"policy": state.sums["loss"] / batches}
        entry["seconds"] = round(state.sums["seconds"], 3)
    state.history.append(entry)
    state.sums = {}
    save(state)
    shown = "  ".join(f"{name} {costs[name]:.3f} > {adapted[name]:.3f}" for name in costs)
    log(f"iteration {state.iteration}/{state.settings.iterations}: cost, adapted: {shown}")


def validate_task(state: Pretraining, task: int) -> tuple[float, float]:
    """Return the mean greedy cost on the task's test instances, before and after adaptation.

    Every validation adapts on the same batches. The solver is the same afterwards as before.
    """
    solver, config, tests = state.solver, state.config, state.tests[task]
    how: Any = {"augment": config.augment, "symmetries": config.symmetries}
    before = mean_cost(solver, tests, **how)
    buffers = {name: value.clone() for name, value in solver.module.named_buffers()}
    label = f"pretraining validation {task}"
    instances = generator(config.seed, f"{label} instances", config.device)
    actions = generator(config.seed, f"{label} actions", config.device)
    loss = task_loss(state, task, attrs.evolve(state.stream, generator=instances), actions)
    adapted = adapt(
        loss, leaves(state.theta), state.inner.begin(), state.inner.steps, differentiable=False
    )
    after = with_parameters(solver.module, adapted, lambda: mean_cost(solver, tests, **how))
    for name, value in solver.module.named_buffers():
        value.copy_(buffers[name])
    return before, after
