"""A run in motion: built from its configuration, saved, and restored to the same bytes."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import CheckpointError
from lifelong_co.protocols import LearnerState, Method, Objective, Problem, Solver
from lifelong_co.runs.data_parallel import ALONE, Ranks
from lifelong_co.runs.folder import Cost, RunFolder
from lifelong_co.seeding import generator, python_seed
from lifelong_co.storage import checkpoint
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.stream import TaskStream, task_stream

Stop = Callable[[], bool]
"""Returns whether to save and stop."""
Log = Callable[[str], None]
"""Shows a line."""
OnStep = Callable[["Run", dict[str, Tensor]], None]
"""Called after a step with the run and the losses of the step, scalars on the device."""


@attrs.define(kw_only=True, eq=False)
class Run:
    """A run in motion: all that a checkpoint holds."""

    config: Config
    folder: RunFolder
    learner: LearnerState
    method: Method
    objective: Objective
    actions: torch.Generator
    """Stream of the sampled actions."""
    stream: TaskStream
    """Draws the training batches."""
    tests: list[list[Any]]
    """Test instances of every task."""
    costs: list[Cost] = attrs.field(factory=list)
    history: list[dict[str, Any]] = attrs.field(factory=list)
    """One entry for each finished epoch: the lines of ``log.jsonl``."""
    sums: dict[str, float | Tensor] = attrs.field(factory=dict)
    """Sums over the present epoch's batches of the losses and of the training cost."""
    steps: int = 0
    ranks: Ranks = ALONE


def start(config: Config, folder: RunFolder, ranks: Ranks = ALONE) -> Run:
    """Build everything a run needs; all of it follows from the configuration and the rank."""
    problem = registry.problem(config.problem)
    solver = new_solver(config, problem)
    tasks = tuple(attrs.evolve(t, batch_size=ranks.share(t.batch_size)) for t in config.tasks)
    instances = generator(config.seed, ranks.stream("instances"), config.device)
    stream = task_stream(tasks, problem, instances, config.device)
    learner = LearnerState(
        problem=problem,
        solver=solver,
        optimizer=torch.optim.Adam(solver.module.parameters()),
        initial=copy.deepcopy(solver.module.state_dict()),
        tasks=tasks,
        stream=stream,
        seed=config.seed if ranks.first else python_seed(config.seed, ranks.stream("method")),
        schedule_seed=config.seed,
        processes=ranks.count,
    )
    return Run(
        config=config,
        folder=folder,
        learner=learner,
        method=registry.method(config.method, **config.method_options),
        objective=solver.objective(),
        actions=generator(config.seed, ranks.stream("actions"), config.device),
        stream=stream,
        tests=[testing(task, problem, config.tests) for task in config.tasks],
        ranks=ranks,
    )


def rewind(run: Run) -> None:
    """Put the streams of instances and actions back to where they were before the first task."""
    for stream, purpose in ((run.stream.generator, "instances"), (run.actions, "actions")):
        stream.manual_seed(python_seed(run.config.seed, run.ranks.stream(purpose)))


def new_solver(config: Config, problem: Problem) -> Solver:
    """Return a solver to be trained, with the first parameters that the seed gives."""
    # Layers draw their first parameters from torch's own stream: borrow it, and give it back.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(python_seed(config.seed, "parameters"))
        solver = registry.solver(config.solver, problem, **config.solver_options)
    solver.module.to(config.device).train()
    return solver


def new_optimizer(config: Config, learner: LearnerState) -> torch.optim.Optimizer:
    """Return the fresh Adam with which every task starts."""
    return torch.optim.Adam(
        learner.solver.module.parameters(),
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        fused=True,  # one pass over the parameters instead of ten
    )


def save(run: Run) -> None:
    """Write the costs and a checkpoint of all there is."""
    learner, ranks = run.learner, run.ranks
    if ranks.first:
        run.folder.write_costs(run.costs, run.config)
        run.folder.write_log(run.history)
        ranks.wait()  # the checkpoint is there when the first process's is: it comes last
    checkpoint.save(
        ranks.place(run.folder.checkpoints),
        run.steps,
        {
            "task": learner.task,
            "epoch": learner.epoch,
            "batch": learner.batch,
            "parameters": learner.solver.module.state_dict(),
            # From the seed there is nothing to keep; from another run's folder there is.
            "initial": learner.initial if run.config.start_from else {},
            "optimizer": learner.optimizer.state_dict(),
            "method": run.method.state_dict(),
            "objective": run.objective.state_dict(),
            "actions": run.actions.get_state(),
            "instances": run.stream.generator.get_state(),
            "costs": [attrs.astuple(cost) for cost in run.costs],
            "log": run.history,
            "sums": {name: float(total) for name, total in run.sums.items()},
            **({"ranks": ranks.count} if ranks.count > 1 else {}),
        },
    )
    if not ranks.first:
        ranks.wait()


def save_learned(run: Run) -> None:
    """Keep the parameters after a task, for `trained_solver.load_solver`."""
    if not run.ranks.first:
        return
    parameters = {"parameters": run.learner.solver.module.state_dict()}
    checkpoint.save(run.folder.after_task(run.learner.task + 1), run.steps, parameters)


def load(run: Run, state: Mapping[str, Any]) -> None:
    """Put in place what `save` has written."""
    learner, count = run.learner, state.get("ranks", 1)
    if count != run.ranks.count:
        raise CheckpointError(
            f"{run.folder.path}: expected {count} processes, which it was begun with, "
            f"got {run.ranks.count}"
        )
    learner.task, learner.epoch, learner.batch = state["task"], state["epoch"], state["batch"]
    learner.solver.module.load_state_dict(state["parameters"])
    if run.config.start_from:
        learner.initial = {name: x.to(run.config.device) for name, x in state["initial"].items()}
    learner.optimizer = new_optimizer(run.config, learner)
    learner.optimizer.load_state_dict(state["optimizer"])
    run.method.load_state_dict(learner, state["method"])
    run.objective.load_state_dict(learner, state["objective"])
    run.actions.set_state(state["actions"])
    run.stream.generator.set_state(state["instances"])
    run.costs = [Cost(*cost) for cost in state["costs"]]
    run.history, run.sums = state["log"], state["sums"]
