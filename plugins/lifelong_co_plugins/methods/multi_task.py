"""Multi-task learning of all tasks at once: references without forgetting (paper, appendix).

POMO-MT-EL and POMO-MT-BL, "Comparison with Non-lifelong Settings": all tasks are there from the
beginning, and learning switches between them after every epoch or after every batch.

The lifelong loop takes one task after another. Here its present task decides only when the solver
is tested, and with a greedy baseline (`invit`) on which task a new baseline is tried. A schedule,
drawn once from the seed, says which task each step of the run learns. The paper reports the last
row of the cost matrix, after the whole run; earlier rows belong to an unfinished run. The whole run
has one optimizer: where the loop starts a new Adam, the state of the old one is loaded into it.

``variant="balanced"``, the default, shuffles all epochs of all tasks (task ``j`` has ``epochs_j``
epochs of ``batches_j`` steps), or all batches. So every task gets exactly the steps, the batch
sizes and the number of instances of a lifelong run. Epochs of the schedule need not begin with
epochs of the loop.

``variant="official"`` is the schedule of the official code (LLR-BC at 9ae601f,
``CVRPTrainer_multitask`` and ``TSPTrainer_multitask``). It has as many epochs as all tasks
together, 1,200 in the paper, and they are the epochs of the loop. The task of each epoch or batch
is drawn uniformly and independently, so the shares of the tasks are equal only on average. An
epoch of one task has the batches of that task. When learning switches by batch, an epoch has the
mean number of instances of all tasks, and its last batch has what is left of them. So large tasks
get more steps than in a lifelong run, and small ones fewer. Two things differ from the official
code: the random stream, and that it saves the solver at other epochs. Its learning rate on the TSP
is a setting of the run (``schedule="official-tsp"``), which preset ``paper`` has.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifelong_co.errors import UnknownNameError
from lifelong_co.protocols import LearnerState, Method
from lifelong_co.seeding import python_seed

VARIANTS = ("balanced", "official")

Batch = tuple[int, int, int | None]
"""Index of the task, step of the task's budget, and size; None: the task's size at this step."""


def multi_task_epoch(variant: str = "balanced") -> Method:
    """Return the method that switches tasks after every epoch (POMO-MT-EL); see the module.

    Raises
    ------
    UnknownNameError
        If there is no such variant.
    """
    return scheduled_method(variant, by_epoch=True)


def multi_task_batch(variant: str = "balanced") -> Method:
    """Return the method that switches tasks after every batch (POMO-MT-BL); see the module.

    Raises
    ------
    UnknownNameError
        If there is no such variant.
    """
    return scheduled_method(variant, by_epoch=False)


def scheduled_method(variant: str, *, by_epoch: bool) -> Method:
    """Return the method that learns the tasks in the order of a schedule."""
    if variant not in VARIANTS:
        raise UnknownNameError("variant", variant, VARIANTS)
    plan: list[list[Batch]] = []  # one entry for each epoch of the loop
    carried: dict[str, Any] = {}  # state of the optimizer, from one task of the loop to the next

    def epoch(learner: LearnerState) -> list[Batch]:
        if not plan:
            make = official_schedule if variant == "official" else balanced_schedule
            plan.extend(make(learner.tasks, learner.schedule_seed, by_epoch=by_epoch))
        return plan[sum(task.epochs for task in learner.tasks[: learner.task]) + learner.epoch]

    def before_task(learner: LearnerState) -> None:
        if carried:
            learner.optimizer.load_state_dict(carried)
            carried.clear()

    def after_task(learner: LearnerState) -> None:
        carried.update(learner.optimizer.state_dict())

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:  # noqa: ARG001
        carried.clear()
        carried.update(state["optimizer"])

    return Method(
        knows_all_tasks=True,
        before_task=before_task,
        batches=lambda learner: len(epoch(learner)),
        instances=lambda learner: learner.draw(*epoch(learner)[learner.batch]),
        after_task=after_task,
        state_dict=lambda: {"optimizer": dict(carried)},
        load_state_dict=load_state_dict,
    )


def balanced_schedule(tasks: Sequence[Any], seed: int, *, by_epoch: bool) -> list[list[Batch]]:
    """Return the batches of each epoch of the loop, of the variant ``balanced``."""
    batches = iter(counted(schedule(tasks, seed, by_epoch=by_epoch)))
    return [
        [(*batch, None) for batch in itertools.islice(batches, task.batches)]
        for task in tasks
        for _ in range(task.epochs)
    ]


def official_schedule(tasks: Sequence[Any], seed: int, *, by_epoch: bool) -> list[list[Batch]]:
    """Return the batches of each epoch of the loop, of the variant ``official``."""
    draw = random.Random(python_seed(seed, "official multi-task schedule"))
    seen: Counter[int] = Counter()  # earlier steps of each task
    mean = sum(task.instances for task in tasks) // len(tasks)
    epochs = []
    for _ in range(sum(task.epochs for task in tasks)):
        epoch: list[Batch] = []
        task = draw.randrange(len(tasks))
        left = tasks[task].instances if by_epoch else mean
        while left > 0:
            size = min(tasks[task].batch_size, left)
            epoch.append((task, seen[task], size))
            seen[task] += 1
            left -= size
            task = task if by_epoch else draw.randrange(len(tasks))
        epochs.append(epoch)
    return epochs


def schedule(tasks: Sequence[Any], seed: int, *, by_epoch: bool) -> list[int]:
    """Return the index of the task that each step of the run learns, if it is ``balanced``."""
    draw = random.Random(python_seed(seed, "multi-task schedule"))
    if by_epoch:
        epochs = [j for j, task in enumerate(tasks) for _ in range(task.epochs)]
        draw.shuffle(epochs)
        return [j for j in epochs for _ in range(tasks[j].batches)]
    steps = [j for j, task in enumerate(tasks) for _ in range(task.epochs * task.batches)]
    draw.shuffle(steps)
    return steps


def counted(tasks: Iterable[int]) -> list[tuple[int, int]]:
    """Return each task with the number of its earlier steps, which decides how far it drifts."""
    seen: Counter[int] = Counter()
    found = []
    for task in tasks:
        found.append((task, seen[task]))
        seen[task] += 1
    return found
