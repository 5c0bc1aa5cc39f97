"""The lifelong loop: algorithms 1 and 2 of the paper, read top to bottom.

``Task -> Instances -> Solver.rollout -> cost and log-probs -> loss -> step``, with two side rooms:
the method adds terms to the loss, and watches the decoding steps it wants to remember.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.errors import LifelongError
from lifelong_co.evaluation import mean_cost
from lifelong_co.protocols import Observer, Rollout
from lifelong_co.rollout.one_pass import one_pass
from lifelong_co.runs.data_parallel import ALONE, Ranks
from lifelong_co.runs.folder import Cost, RunFolder
from lifelong_co.runs.run import Run, new_optimizer, restore, rewind, save, save_learned, start
from lifelong_co.runs.warm_start import take_over
from lifelong_co.tensors.precision import learning_in, warn_of_tf32

Stop = Callable[[], bool]
Watch = Callable[[Run, dict[str, Tensor]], None]
Tell = Callable[[str], None]


class Interrupted(LifelongError):  # noqa: N818 - not an error: the run was asked to stop
    """The run was asked to stop; all it had done is saved."""


def learn(
    config: Config,
    folder: Path,
    *,
    resume: bool = False,
    ranks: Ranks = ALONE,
    stop: Stop = lambda: False,
    watch: Watch = lambda run, losses: None,  # noqa: ARG005
    tell: Tell = lambda line: None,  # noqa: ARG005
) -> Run:
    """Learn the tasks of a configuration one after another (algorithm 1).

    Parameters
    ----------
    config
        What to do.
    folder
        The run folder: a new one, or with ``resume`` an interrupted one.
    ranks
        This process among those that learn the run together, each calling this alike.
    stop
        Asked after every step; when it says so the run is saved and `Interrupted` raised.
    watch
        Told the losses after every step, scalars on the device.
    tell
        Told the configuration, and a line after every test.
    """
    run = start(config, RunFolder(folder), ranks)
    if not resume:
        take_over(run)  # what cannot be taken over is refused before anything is written
        if ranks.first:
            run.folder.create(config)
        ranks.wait()
    tell(to_toml(config))
    warn_of_tf32(config.device, tell)
    if resume and not restore(run, tell):
        take_over(run)
    learner = run.learner
    for task in range(learner.task, len(config.tasks)):
        learner.task = task
        if learner.epoch == learner.batch == 0:
            before_task(run)
        while learner.epoch < config.tasks[task].epochs:
            train_epoch(run, stop, watch)
            after_epoch(run, tell)
        learner.epoch = 0
    return run


def before_task(run: Run) -> None:
    """Prepare for a task; a method that restarts meets it as if it were the first."""
    run.learner.optimizer = new_optimizer(run.config, run.learner)
    if run.method.restarts:
        rewind(run)
    run.method.before_task(run.learner)
    run.objective.before_task(run.learner)


def train_epoch(run: Run, stop: Stop, watch: Watch) -> None:
    """Train on the batches that are left of an epoch (algorithm 2)."""
    learner = run.learner
    if learner.batch == 0:
        run.method.before_epoch(learner)
        run.sums = {}
    began = time.perf_counter()
    while learner.batch < run.config.tasks[learner.task].batches:
        losses = train_batch(run)
        learner.batch += 1
        run.steps += 1
        now = time.perf_counter()
        for name, value in losses.items():  # left on the device: a number would wait for it
            run.sums[name] = run.sums.get(name, 0.0) + value.double()
        run.sums["seconds"] = run.sums.get("seconds", 0.0) + now - began
        began = now
        watch(run, losses)
        if run.ranks.any(stop()):
            save(run)
            raise Interrupted(f"stopped; continue with: {run.folder.resume_command}")


def train_batch(run: Run) -> dict[str, Tensor]:
    """Take one step: ``L = L_DRL + the method's terms`` (eq. 2)."""
    learner, method = run.learner, run.method
    solver = learner.solver
    instances = method.instances(learner)
    if run.config.images:
        instances = learner.problem.augment(instances)
    with learning_in(run.config.precision, run.config.device):
        rollout = sampled(run, instances, method.observer(learner, instances))
        policy = run.objective.loss(instances, rollout)
    learner.optimizer.zero_grad()
    policy.backward()
    losses = {"cost": rollout.cost.min(dim=1).values.mean().detach(), "policy": policy.detach()}
    terms = iter(method.loss_terms(learner, rollout))
    while True:
        with learning_in(run.config.precision, run.config.device):
            name, term = next(terms, ("", None))
        if term is None:
            break
        term.backward()
        losses[name] = losses.get(name, torch.zeros_like(policy)) + term.detach()
    run.ranks.average(solver.module.parameters())
    learner.optimizer.step()
    method.after_step(learner)
    return losses


def sampled(run: Run, instances: Any, observe: Observer | None) -> Rollout:
    """Return the rollout to learn from."""
    solver = run.learner.solver
    if run.config.one_pass:
        return one_pass(solver, instances, generator=run.actions, observe=observe)
    return solver.rollout(instances, "sample", generator=run.actions, observe=observe)


def after_epoch(run: Run, tell: Tell) -> None:
    """Close an epoch: log it, test where due, save."""
    learner, config = run.learner, run.config
    run.method.after_epoch(learner)
    run.objective.after_epoch(learner)
    learner.epoch, learner.batch = learner.epoch + 1, 0
    batches = config.tasks[learner.task].batches
    means = {name: float(total) / batches for name, total in run.sums.items()}
    seconds = means.pop("seconds") * batches
    run.log.append(
        {
            "learning": learner.task + 1,
            "epoch": learner.epoch,
            "train_cost": means.pop("cost"),
            "losses": means,
            "seconds": round(seconds, 3),
        }
    )
    finished = learner.epoch == config.tasks[learner.task].epochs
    if finished:
        run.method.after_task(learner)
    if finished or learner.epoch % config.curve_every == 0:
        # After a task all tasks are tested; on the way the learned ones, for the forgetting curve.
        first = learner.task if run.method.restarts else 0
        tested = range(len(config.tasks)) if finished else range(first, learner.task + 1)
        measure(run, tested, tell)
    if finished:
        save_learned(run)
    save(run)


def measure(run: Run, tested: range, tell: Tell) -> None:
    """Test on some tasks and note the costs; one process does so for all."""
    if not run.ranks.first:
        return
    learner, config = run.learner, run.config
    rows = [
        Cost(
            learning=learner.task + 1,
            epoch=learner.epoch,
            tested=j + 1,
            name=config.tasks[j].label,
            cost=mean_cost(learner.solver, run.tests[j], augment=config.augment),
        )
        for j in tested
    ]
    run.costs.extend(rows)
    shown = "  ".join(f"{row.name} {row.cost:.3f}" for row in rows)
    name = config.tasks[learner.task].label
    tell(f"{name} epoch {learner.epoch}: cost {shown}")
