"""The lifelong loop: algorithms 1 and 2 of the paper (appendix A), to be read from top to bottom.

``Task -> Instances -> Solver.rollout -> cost and log-probs -> loss -> step``. The method adds terms
to the loss, and it observes the decoding steps that it wants to remember.
"""

import time
from typing import Any

import torch
from torch import Tensor

from lifelong_co.config.settings import NEXT
from lifelong_co.errors import Interrupted
from lifelong_co.protocols import Observer, Rollout
from lifelong_co.rollout.observing import read_only
from lifelong_co.rollout.one_pass import one_pass
from lifelong_co.rollout.soundness import checked
from lifelong_co.runs.costs import due
from lifelong_co.runs.epochs import what_it_learns
from lifelong_co.runs.learning_rate import decay, rate_factor
from lifelong_co.runs.run import (
    Log,
    OnStep,
    Run,
    Stop,
    new_optimizer,
    rewind,
    save,
    save_learned,
    save_metrics,
)
from lifelong_co.runs.step_checks import (
    checked_batch,
    checked_loss,
    checked_term,
    checked_terms,
    require_batches,
    require_finite_step,
    require_rest_finite,
)
from lifelong_co.runs.task_costs import task_costs
from lifelong_co.tensors.backward import differentiate
from lifelong_co.tensors.precision import each_in, learning_in
from lifelong_co.tensors.schedule import scaled_rate

SHOWN = 12  # costs in the line of a test, at most


def learn(
    run: Run,
    *,
    stop: Stop = lambda: False,
    on_step: OnStep = lambda run, losses: None,  # noqa: ARG005
    log: Log = lambda line: None,  # noqa: ARG005
) -> Run:
    """Learn the tasks of a run one after another (algorithm 1), starting where the run stands.

    Parameters
    ----------
    run
        Made by `runs.prepare.prepare`, new or resumed.
    stop
        Called after every step. When it returns True, the run is saved and stops.
    on_step
        Called after every step with the run and the losses, which are scalars on the device.
    log
        Called with one line of text after every test.

    Raises
    ------
    Interrupted
        If `stop` ended the run.
    NotFiniteError, InvalidRolloutError
        If a step or a test gave NaN or an infinite number, or a tested solution is infeasible. The
        latest checkpoint is from before.
    ComponentError
        If the policy loss or a term of the method is not a scalar with gradients.
    """
    learner, tasks = run.learner, run.config.tasks
    for task in range(learner.task, len(tasks)):  # line 4: tasks arrive in their order
        if task > learner.task:
            learner.task, learner.epoch = task, 0
        if learner.epoch == learner.batch == 0:
            before_task(run)
        while learner.epoch < tasks[task].epochs:  # line 5: algorithm 2
            train_epoch(run, stop, on_step)
            after_epoch(run, log)
    save_metrics(run)
    return run  # line 7


def before_task(run: Run) -> None:
    """Prepare for a task; a method that restarts learns it as if it were the first."""
    run.learner.optimizer = new_optimizer(run.config, run.learner)
    if run.method.restarts:
        rewind(run)
    run.method.before_task(run.learner)
    run.objective.before_task(run.learner)


def train_epoch(run: Run, stop: Stop, on_step: OnStep) -> None:
    """Train on the remaining batches of an epoch: lines 4 to 19 of algorithm 2."""
    learner = run.learner
    began = time.perf_counter()
    if learner.batch == 0:
        run.method.before_epoch(learner)
        run.sums = {}
    require_batches(run.config, run.method.batches(learner))
    while learner.batch < run.method.batches(learner):
        losses = train_batch(run)
        require_finite_step(run, losses)
        learner.batch += 1
        run.steps += 1
        now = time.perf_counter()
        for name, value in losses.items():  # stays on the device: reading it would wait
            run.sums[name] = run.sums.get(name, 0.0) + value.double()
        run.sums["seconds"] = run.sums.get("seconds", 0.0) + now - began
        began = now
        on_step(run, losses)
        if run.ranks.any(stop()):
            require_rest_finite(run)
            save(run)
            save_metrics(run)
            raise Interrupted(run.folder.path)
    require_rest_finite(run)


def train_batch(run: Run) -> dict[str, Tensor]:
    """Take one step of algorithm 2 and return its losses: ``L = L_DRL + the method's terms``."""
    config, learner, method = run.config, run.learner, run.method
    instances = checked_batch(config, learner.problem, method.instances(learner))  # line 5
    if config.images:
        instances = run.stream.images(instances)
    with learning_in(config.precision, config.device):
        rollout = sampled(run, instances, method.observer(learner, instances))  # line 6
        cost = rollout.cost.min(dim=1).values.mean().detach()
        policy = run.objective.loss(instances, rollout)  # line 7: L_DRL
    checked_loss(f"solver {config.solver!r}, objective {config.objective!r}, policy loss", policy)
    learner.optimizer.zero_grad()
    policy.backward()
    losses = {"cost": cost, "policy": policy.detach()}
    # Lines 8 to 13: the method's terms; that of LLR-BC is alpha L_BC. Each backward pass adds to
    # the gradients, so the step below follows the gradient of the sum.
    terms = checked_terms(config, method.loss_terms(learner, rollout))
    for item in each_in(config.precision, config.device, terms):
        name, term = checked_term(config, item)
        differentiate(f"method {config.method!r}, loss term {name!r}", term)
        losses[name] = losses.get(name, torch.zeros_like(policy)) + term.detach()
    run.ranks.average(learner.solver.module.parameters())
    with scaled_rate(learner.optimizer, rate_factor(run)):
        learner.optimizer.step()  # line 14
    method.after_step(learner)  # lines 15 to 17: what was observed goes into the buffer
    return losses


def sampled(run: Run, instances: Any, observe: Observer | None) -> Rollout:
    """Return the rollout to learn from.

    That of a task's first step is checked, and what observes that of an epoch's first step.
    """
    learner, solver = run.learner, run.learner.solver
    if observe is not None and learner.batch == 0:
        observe = read_only(observe, f"method {run.config.method!r}")

    def rollout(observe: Observer | None) -> Rollout:
        if run.config.one_pass:
            return one_pass(solver, instances, generator=run.actions, observe=observe)
        return solver.rollout(instances, "sample", generator=run.actions, observe=observe)

    first = learner.epoch == learner.batch == 0
    return checked(run.config.solver, solver, instances, rollout, observe, first)


def after_epoch(run: Run, log: Log) -> None:
    """End an epoch: note its means, test if a test is due, and save."""
    learner, config = run.learner, run.config
    last = (len(config.tasks) - 1, config.tasks[-1].epochs - 1)
    if config.tests_after == NEXT and (learner.task, learner.epoch) == last:
        save(run)  # the tests of all tasks can take long: a resumed run repeats only them
    run.method.after_epoch(learner)
    run.objective.after_epoch(learner)
    decay(learner.optimizer, config.learning_rate_decay)
    batches = learner.batch
    learner.epoch, learner.batch = learner.epoch + 1, 0
    note_epoch(run, batches)
    finished = learner.epoch == config.tasks[learner.task].epochs
    if finished:
        run.method.after_task(learner)
    if finished or learner.epoch % config.curve_every == 0:
        test(run, due(config, learner.task, finished, run.method.restarts), log)
    if finished:
        save_learned(run)
    save(run)
    # With many tasks it is written at ever fewer of them, as it grows with every task.
    if finished and thinned(learner.task + 1):
        save_metrics(run)


def thinned(number: int) -> bool:
    """Return whether a number is one of 16 between each power of two, from 16, and the next."""
    return number % (1 << max(0, number.bit_length() - 5)) == 0


def note_epoch(run: Run, batches: int) -> None:
    """Add an entry with the means over the epoch's batches to the log."""
    if not run.ranks.first:
        return
    learner = run.learner
    means = {name: float(total) / batches for name, total in run.sums.items()}
    seconds = means.pop("seconds") * batches
    run.journal.add_epoch(
        {
            "learning": learner.task + 1,
            "epoch": learner.epoch,
            "train_cost": means.pop("cost"),
            "losses": means,
            "seconds": round(seconds, 3),
        }
    )


def test(run: Run, tasks: range, log: Log) -> None:
    """Test on some tasks and keep the costs; with several processes, only the first one tests."""
    if not run.ranks.first:
        return
    learner = run.learner
    rows = task_costs(run, learner.solver, learner.task, learner.epoch, tasks)
    run.journal.add_costs(rows)
    shown = "  ".join(f"{row.name} {row.cost:.3f}" for row in rows[-SHOWN:])
    if len(rows) > SHOWN:
        shown = f"… {len(rows) - SHOWN} tasks  {shown}"
    name, number, _ = what_it_learns(run, learner.epoch - 1)
    log(f"{name} epoch {number}: cost {shown}")
