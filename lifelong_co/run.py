"""A run in motion: built from its configuration, saved, and restored to the same bytes."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import torch

from lifelong_co import checkpoint, records, registry, streams
from lifelong_co.config import Config
from lifelong_co.protocols import Learning, Method, Objective, Problem, Solver
from lifelong_co.resuming import resume
from lifelong_co.run_folder import Cost, RunFolder
from lifelong_co.seeding import generator, python_seed


@attrs.define(kw_only=True, eq=False)
class Run:
    """A run in motion: all that a checkpoint holds."""

    config: Config
    folder: RunFolder
    learning: Learning
    method: Method
    objective: Objective
    actions: torch.Generator
    """Stream of the sampled actions."""
    instances: torch.Generator
    """Stream of the training instances."""
    tests: list[list[Any]]
    """Test instances of every task."""
    costs: list[Cost] = attrs.field(factory=list)
    log: list[dict[str, Any]] = attrs.field(factory=list)
    sums: dict[str, float] = attrs.field(factory=dict)
    """Sums over the present epoch's batches of the losses and of the training cost."""
    steps: int = 0


def start(config: Config, folder: RunFolder) -> Run:
    """Build everything a run needs; all of it follows from the configuration."""
    problem = registry.problem(config.problem)
    solver = new_solver(config, problem)
    instances = generator(config.seed, "instances", config.device)
    draws = [streams.training(task, problem) for task in config.tasks]
    learning = Learning(
        problem=problem,
        solver=solver,
        optimizer=torch.optim.Adam(solver.module.parameters()),
        initial=copy.deepcopy(solver.module.state_dict()),
        tasks=config.tasks,
        draw=lambda task: records.to(draws[task](instances), config.device),
        seed=config.seed,
    )
    return Run(
        config=config,
        folder=folder,
        learning=learning,
        method=registry.method(config.method, **config.method_options),
        objective=solver.objective(),
        actions=generator(config.seed, "actions", config.device),
        instances=instances,
        tests=[streams.testing(task, problem, config.tests) for task in config.tasks],
    )


def new_solver(config: Config, problem: Problem) -> Solver:
    """Return a solver to be trained, with the first parameters that the seed gives."""
    # Layers draw their first parameters from torch's own stream: borrow it, and give it back.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(python_seed(config.seed, "parameters"))
        solver = registry.solver(config.solver, problem, **config.solver_options)
    solver.module.to(config.device).train()
    return solver


def new_optimizer(config: Config, learning: Learning) -> torch.optim.Optimizer:
    """Return a fresh Adam, as at the start of every task (design §4)."""
    return torch.optim.Adam(
        learning.solver.module.parameters(),
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        fused=True,  # one pass over the parameters instead of ten
    )


def save(run: Run) -> None:
    """Write the costs and a checkpoint of all there is."""
    learning = run.learning
    run.folder.write_costs(run.costs, run.config)
    run.folder.write_log(run.log)
    checkpoint.save(
        run.folder.checkpoints,
        run.steps,
        {
            "task": learning.task,
            "epoch": learning.epoch,
            "batch": learning.batch,
            "parameters": learning.solver.module.state_dict(),
            # From the seed there is nothing to keep; from another run's folder there is.
            "initial": learning.initial if run.config.start_from else {},
            "optimizer": learning.optimizer.state_dict(),
            "method": run.method.state_dict(),
            "objective": run.objective.state_dict(),
            "actions": run.actions.get_state(),
            "instances": run.instances.get_state(),
            "costs": [attrs.astuple(cost) for cost in run.costs],
            "log": run.log,
            "sums": run.sums,
        },
    )


def save_learned(run: Run) -> None:
    """Keep the parameters after a task, for `trained.load_solver`."""
    parameters = {"parameters": run.learning.solver.module.state_dict()}
    checkpoint.save(run.folder.after_task(run.learning.task + 1), run.steps, parameters)


def restore(run: Run, tell: Callable[[str], None]) -> bool:
    """Continue from the latest checkpoint that is whole; return whether there was one.

    Raises
    ------
    CheckpointError
        If checkpoints are there and none is whole, or the one that is belongs to another run.
    """
    path = resume(run.folder, lambda state: load(run, state), tell)
    if path is None:
        return False
    run.steps = int(path.stem.rpartition("-")[2])
    tell(f"continuing after step {run.steps} from {path}")
    return True


def load(run: Run, state: Mapping[str, Any]) -> None:
    """Undo `save`."""
    learning = run.learning
    learning.task, learning.epoch, learning.batch = state["task"], state["epoch"], state["batch"]
    learning.solver.module.load_state_dict(state["parameters"])
    if run.config.start_from:
        learning.initial = {name: x.to(run.config.device) for name, x in state["initial"].items()}
    learning.optimizer = new_optimizer(run.config, learning)
    learning.optimizer.load_state_dict(state["optimizer"])
    run.method.load_state_dict(learning, state["method"])
    run.objective.load_state_dict(learning, state["objective"])
    run.actions.set_state(state["actions"])
    run.instances.set_state(state["instances"])
    run.costs = [Cost(*cost) for cost in state["costs"]]
    run.log, run.sums = state["log"], state["sums"]
