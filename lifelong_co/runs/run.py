"""The state of a run: built from its configuration, saved, and restored exactly."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.errors import CheckpointError
from lifelong_co.protocols import LearnerState, Method, Objective, Problem, Solver
from lifelong_co.runs.component_state import named_state, restoring
from lifelong_co.runs.costs import Cost
from lifelong_co.runs.data_files import unchanged
from lifelong_co.runs.data_parallel import ALONE, Ranks, shared
from lifelong_co.runs.folder import RunFolder, with_all_options
from lifelong_co.runs.journal import Journal
from lifelong_co.runs.settings import refuse_others
from lifelong_co.seeding import generator, python_seed
from lifelong_co.storage import checkpoint
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.random_images import require_turnable
from lifelong_co.tasks.stream import TaskStream, task_stream
from lifelong_co.tensors.finiteness import Watch
from lifelong_co.tensors.modules import require_learnable
from lifelong_co.tensors.optimizers import Adam, AdamW

Stop = Callable[[], bool]
"""Returns whether the run should be saved and stop."""
Log = Callable[[str], None]
"""Shows a line of text."""
OnStep = Callable[["Run", dict[str, Tensor]], None]
"""Called after a step with the run and the losses of the step, which are scalars on the device."""

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": Adam,
    "adamw": AdamW,
}
"""The values of the setting ``optimizer``."""


@attrs.define(kw_only=True, eq=False)
class Run:
    """The state of a run that is being learned."""

    config: Config
    folder: RunFolder
    learner: LearnerState
    method: Method
    objective: Objective
    actions: torch.Generator
    """Random stream of the sampled actions."""
    stream: TaskStream
    """Draws the training batches."""
    tests: list[list[Any]]
    """Test instances of every task, one batch per size."""
    journal: Journal
    """The costs and the log; with several processes, only that of the first one is used."""
    sums: dict[str, float | Tensor] = attrs.field(factory=dict)
    """Sums of the losses and of the training cost over the batches of the present epoch."""
    steps: int = 0
    """Finished steps of the run."""
    ranks: Ranks = ALONE
    """This process among those that learn the run together."""
    watch: Watch = attrs.field(factory=Watch)
    """Looks for numbers of the steps that are not finite."""
    settings: str = attrs.field(init=False)
    """The configuration as TOML, for the checkpoints."""

    def __attrs_post_init__(self) -> None:
        self.settings = to_toml(with_all_options(self.config))

    @property
    def costs(self) -> list[Cost]:
        """One entry for each test: the rows of ``costs.csv``, read from the disk."""
        tasks = self.config.tasks  # in the file, a name that looks like a formula is changed
        return [attrs.evolve(row, name=tasks[row.tested - 1].label) for row in self.journal.costs()]

    @property
    def history(self) -> list[dict[str, Any]]:
        """One entry for each finished epoch: the lines of ``log.jsonl``, read from the disk."""
        return self.journal.epochs()


def start(config: Config, folder: RunFolder, ranks: Ranks = ALONE, learned: int = 0) -> Run:
    """Return a new run. It depends only on the configuration and the rank.

    ``learned`` is that of `task_stream`.

    Raises
    ------
    ConfigError, UnknownNameError
        If the configuration has an invalid value or name.
    """
    problem = registry.problem(config.problem)
    solver = new_solver(config, problem)
    tasks = tuple(shared(task, ranks) for task in config.tasks)
    instances = generator(config.seed, ranks.stream("instances"), config.device)
    given = (tasks, problem, instances, config.device, config.symmetries)
    stream = task_stream(*given, learned=learned, check=unchanged(folder.path, problem))

    def objective(solver: Solver) -> Objective:
        return registry.objective(config.objective, solver, **config.objective_options)

    learner = LearnerState(
        problem=problem,
        solver=solver,
        objective=objective,
        optimizer=Adam(solver.module.parameters()),
        initial=copy.deepcopy(solver.module.state_dict()),
        tasks=tasks,
        stream=stream,
        seed=config.seed if ranks.first else python_seed(config.seed, ranks.stream("method")),
        schedule_seed=config.seed,
        processes=ranks.count,
    )
    tests = [testing(task, problem, config.tests) for task in config.tasks]
    if config.symmetries == "random":
        how = {"images": config.training_images, "augment": config.augment}
        require_turnable(config.tasks[learned:], tests[learned:], problem, **how)
    return Run(
        config=config,
        folder=folder,
        learner=learner,
        method=registry.method(config.method, **config.method_options),
        objective=objective(solver),
        actions=generator(config.seed, ranks.stream("actions"), config.device),
        stream=stream,
        tests=tests,
        journal=Journal(folder),
        ranks=ranks,
    )


def rewind(run: Run) -> None:
    """Reset the random streams of instances and actions to their state before the first task."""
    for stream, purpose in ((run.stream.generator, "instances"), (run.actions, "actions")):
        stream.manual_seed(python_seed(run.config.seed, run.ranks.stream(purpose)))


def new_solver(config: Config, problem: Problem) -> Solver:
    """Return a solver in training mode, with initial parameters that follow from the seed."""
    # Layers draw their parameters from the CPU's global stream: seed it here, restore it after.
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(python_seed(config.seed, "parameters"))
        solver = registry.solver(config.solver, problem, **config.solver_options)
    require_learnable(config.solver, solver.module)
    solver.module.to(config.device).train()
    return solver


def new_optimizer(config: Config, learner: LearnerState) -> torch.optim.Optimizer:
    """Return a new optimizer; every task starts with one."""
    return OPTIMIZERS[config.optimizer](
        learner.solver.module.parameters(),
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        fused=True,  # one pass over the parameters instead of ten
    )


def save(run: Run) -> None:
    """Append to the costs and the log, and write a checkpoint of the whole run."""
    learner, ranks = run.learner, run.ranks
    ranks.wait()  # the first process may test: until it saves, no other replaces its checkpoint
    if ranks.first:
        run.journal.write()
        ranks.wait()  # the first process saves last: with its checkpoint all others are there
    with named_state(run.config):
        checkpoint.save(
            ranks.place(run.folder.checkpoints),
            run.steps,
            {
                "task": learner.task,
                "epoch": learner.epoch,
                "batch": learner.batch,
                "parameters": learner.solver.module.state_dict(),
                # Saved only if they come from another run: otherwise they follow from the seed.
                "initial": learner.initial if run.config.start_from else {},
                "optimizer": learner.optimizer.state_dict(),
                "method": run.method.state_dict(),
                "objective": run.objective.state_dict(),
                "actions": run.actions.get_state(),
                "instances": run.stream.generator.get_state(),
                "settings": run.settings,
                "sums": {name: float(total) for name, total in run.sums.items()},
                **({"journal": run.journal.state_dict()} if ranks.first else {}),
                **({"ranks": ranks.count} if ranks.count > 1 else {}),
            },
        )
    if not ranks.first:
        ranks.wait()


def save_learned(run: Run) -> None:
    """Save what stays of a task: the parameters, the costs and the log."""
    if not run.ranks.first:
        return
    parameters = {"parameters": run.learner.solver.module.state_dict()}
    checkpoint.save(run.folder.after_task(run.learner.task + 1), run.steps, parameters)
    run.journal.end_task()


def save_metrics(run: Run) -> None:
    """Write ``metrics.json`` for the tasks learned so far."""
    if run.ranks.first:
        run.folder.write_metrics(run.config)


def load(run: Run, state: Mapping[str, Any]) -> None:
    """Restore a run from what `save` has written; the journal last, as this changes files.

    Raises
    ------
    CheckpointError
        If the run was started with another number of processes, or a file cannot be rebuilt.
    ConfigError
        If the run was started with other settings.
    """
    learner, count = run.learner, state.get("ranks", 1)
    if count != run.ranks.count:
        raise CheckpointError(
            f"{run.folder.path}: expected {count} processes, as at the start of the run, "
            f"got {run.ranks.count}"
        )
    refuse_others(state["settings"], run.settings)
    learner.task, learner.epoch, learner.batch = state["task"], state["epoch"], state["batch"]
    learner.solver.module.load_state_dict(state["parameters"])
    if run.config.start_from:
        learner.initial = {name: x.to(run.config.device) for name, x in state["initial"].items()}
    learner.optimizer = new_optimizer(run.config, learner)
    learner.optimizer.load_state_dict(state["optimizer"])
    for kind, part in (("method", run.method), ("objective", run.objective)):
        with restoring(kind, getattr(run.config, kind)):
            part.load_state_dict(learner, state[kind])
    run.actions.set_state(state["actions"])
    run.stream.generator.set_state(state["instances"])
    run.sums = state["sums"]
    if run.ranks.first:
        run.journal.restore(state["journal"])
