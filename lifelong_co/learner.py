"""The lifelong loop: algorithms 1 and 2 of the paper, read top to bottom.

``Task -> Instances -> Solver.rollout -> cost and log-probs -> loss -> step``, with two side rooms:
the method adds terms to the loss, and watches the decoding steps it wants to remember.
"""

import copy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import attrs
import torch
from torch import Tensor

from lifelong_co import checkpoint, records, registry, streams
from lifelong_co.config import Config
from lifelong_co.errors import LifelongError
from lifelong_co.evaluation import mean_cost
from lifelong_co.protocols import Learning, Method
from lifelong_co.run_folder import Cost, RunFolder
from lifelong_co.seeding import generator, python_seed


class Interrupted(LifelongError):  # noqa: N818 - not an error: the run was asked to stop
    """The run was asked to stop; all it had done is saved."""


@attrs.frozen(kw_only=True)
class Progress:
    """What a run tells whoever watches it, after every step."""

    learning: Learning
    losses: dict[str, float]
    cost: float
    """Mean cost of the last batch's best solutions."""


@attrs.define(kw_only=True, eq=False)
class Run:
    """A run in motion: all that a checkpoint holds."""

    config: Config
    folder: RunFolder
    learning: Learning
    method: Method
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


def learn(
    config: Config,
    folder: Path,
    *,
    resume: bool = False,
    stop: Callable[[], bool] = lambda: False,
    watch: Callable[[Run, dict[str, float]], None] = lambda run, losses: None,  # noqa: ARG005
    tell: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> Run:
    """Learn the tasks of a configuration one after another (algorithm 1).

    Parameters
    ----------
    config
        What to do.
    folder
        The run folder: a new one, or with ``resume`` an interrupted one.
    stop
        Asked after every step; when it says so the run is saved and `Interrupted` raised.
    watch
        Told the losses after every step.
    tell
        Told one line after every test.
    """
    run = start(config, RunFolder(folder))
    if resume:
        restore(run, tell)
    else:
        run.folder.create(config)
    learning, method = run.learning, run.method
    for task in range(learning.task, len(config.tasks)):
        learning.task = task
        if learning.epoch == learning.batch == 0:
            learning.optimizer = new_optimizer(config, learning)
            method.before_task(learning)
        while learning.epoch < config.tasks[task].epochs:
            train_epoch(run, stop, watch)
            after_epoch(run, tell)
        learning.epoch = 0
    return run


def train_epoch(
    run: Run, stop: Callable[[], bool], watch: Callable[[Run, dict[str, float]], None]
) -> None:
    """Train on the batches that are left of an epoch (algorithm 2)."""
    learning = run.learning
    if learning.batch == 0:
        run.method.before_epoch(learning)
        run.sums = {}
    began = time.perf_counter()
    while learning.batch < run.config.tasks[learning.task].batches:
        losses = {name: float(value) for name, value in train_batch(run).items()}
        learning.batch += 1
        run.steps += 1
        now = time.perf_counter()
        for name, value in {**losses, "seconds": now - began}.items():
            run.sums[name] = run.sums.get(name, 0.0) + value
        began = now
        watch(run, losses)
        if stop():
            interrupt(run)


def train_batch(run: Run) -> dict[str, Tensor]:
    """Take one step: ``L = L_DRL + the method's terms`` (eq. 2)."""
    learning, method = run.learning, run.method
    solver = learning.solver
    instances = method.instances(learning)
    rollout = solver.rollout(
        instances,
        "sample",
        generator=run.actions,
        observe=method.observer(learning, instances),
    )
    learning.optimizer.zero_grad()
    policy = solver.policy_loss(rollout)
    policy.backward()
    losses = {"cost": rollout.cost.min(dim=1).values.mean(), "policy": policy.detach()}
    for name, term in method.loss_terms(learning, rollout):
        term.backward()
        losses[name] = losses.get(name, torch.zeros_like(policy)) + term.detach()
    learning.optimizer.step()
    method.after_step(learning)
    return losses


def after_epoch(run: Run, tell: Callable[[str], None]) -> None:
    """Close an epoch: log it, test where due, save."""
    learning, config = run.learning, run.config
    run.method.after_epoch(learning)
    learning.epoch, learning.batch = learning.epoch + 1, 0
    batches = config.tasks[learning.task].batches
    means = {name: total / batches for name, total in run.sums.items()}
    seconds = means.pop("seconds") * batches
    run.log.append(
        {
            "learning": learning.task + 1,
            "epoch": learning.epoch,
            "train_cost": means.pop("cost"),
            "losses": means,
            "seconds": round(seconds, 3),
        }
    )
    finished = learning.epoch == config.tasks[learning.task].epochs
    if finished:
        run.method.after_task(learning)
    if finished or learning.epoch % config.curve_every == 0:
        # After a task all tasks are tested; on the way the learned ones, for the forgetting curve.
        tested = range(len(config.tasks) if finished else learning.task + 1)
        test(run, tested, tell)
    save(run)
    if finished:
        parameters = {"parameters": learning.solver.module.state_dict()}
        checkpoint.save(run.folder.after_task(learning.task + 1), run.steps, parameters)


def test(run: Run, tested: range, tell: Callable[[str], None]) -> None:
    """Test on some tasks and note the costs."""
    learning, config = run.learning, run.config
    rows = [
        Cost(
            learning=learning.task + 1,
            epoch=learning.epoch,
            tested=j + 1,
            name=config.tasks[j].label,
            cost=mean_cost(learning.solver, run.tests[j], augment=config.augment),
        )
        for j in tested
    ]
    run.costs.extend(rows)
    shown = "  ".join(f"{row.name} {row.cost:.3f}" for row in rows)
    name = config.tasks[learning.task].label
    tell(f"{name} epoch {learning.epoch}: cost {shown}")


def start(config: Config, folder: RunFolder) -> Run:
    """Build everything a run needs; all of it follows from the configuration."""
    problem = registry.problem(config.problem)
    # Layers draw their first parameters from torch's own stream: borrow it, and give it back.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(python_seed(config.seed, "parameters"))
        solver = registry.solver(config.solver, problem, **config.solver_options)
    solver.module.to(config.device)
    solver.module.train()
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
        actions=generator(config.seed, "actions", config.device),
        instances=instances,
        tests=[streams.testing(task, problem, config.tests) for task in config.tasks],
    )


def new_optimizer(config: Config, learning: Learning) -> torch.optim.Optimizer:
    """Return a fresh Adam, as at the start of every task (design §4)."""
    return torch.optim.Adam(
        learning.solver.module.parameters(),
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
    )


def interrupt(run: Run) -> NoReturn:
    """Save and stop."""
    save(run)
    raise Interrupted(f"stopped; continue with: lifelong-co run --resume {run.folder.path}")


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
            "optimizer": learning.optimizer.state_dict(),
            "method": run.method.state_dict(),
            "actions": run.actions.get_state(),
            "instances": run.instances.get_state(),
            "costs": [attrs.astuple(cost) for cost in run.costs],
            "log": run.log,
            "sums": run.sums,
        },
    )


def restore(run: Run, tell: Callable[[str], None]) -> None:
    """Continue from the latest checkpoint that is whole; from the start when there is none."""
    found = checkpoint.latest(run.folder.checkpoints)
    if found is None:
        tell("no checkpoint yet: starting from the beginning")
        return
    path, state = found
    learning = run.learning
    learning.task, learning.epoch, learning.batch = state["task"], state["epoch"], state["batch"]
    learning.solver.module.load_state_dict(state["parameters"])
    learning.optimizer = new_optimizer(run.config, learning)
    learning.optimizer.load_state_dict(state["optimizer"])
    run.method.load_state_dict(learning, state["method"])
    run.actions.set_state(state["actions"])
    run.instances.set_state(state["instances"])
    run.costs = [Cost(*cost) for cost in state["costs"]]
    run.log, run.sums = state["log"], state["sums"]
    run.steps = int(path.stem.rpartition("-")[2])
    tell(f"continuing after step {run.steps} from {path}")
