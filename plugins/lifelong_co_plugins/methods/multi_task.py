"""Multi-task learning of all tasks at once: references that know no forgetting (paper, appendix).

POMO-MT-EL and POMO-MT-BL, "Comparison with Non-lifelong Settings": all tasks are there from the
beginning, and learning switches between them after every epoch or after every batch.

In the lifelong loop tasks arrive one after another; here the loop's tasks only decide after how
many steps it tests. A schedule over all ``sum_j epochs_j * batches_j`` steps of the run, drawn once
from the seed, says which task a step learns: a shuffle of all tasks' epochs (task ``j`` has
``epochs_j`` of ``batches_j`` steps each), or of their batches. So every task gets exactly the
steps, the batch size and the number of instances of a lifelong run. The paper reports the last row
of the cost matrix, after the whole run; the rows before it belong to an unfinished run. One
optimizer learns all tasks: Adam keeps its state where the loop would start a new optimizer.

The official code (LLR-BC at 9ae601f, ``CVRPTrainer_multitask``) differs: it draws the task of each
epoch or batch uniformly and independently, over 1,200 epochs, so the tasks' shares are equal only
on average. When it switches by batch, an epoch is the tasks' mean number of instances, so large
tasks get more steps than in a lifelong run and small tasks fewer. Where batches per epoch differ,
our epochs of a task do not begin with the loop's.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifelong_co.protocols import LearnerState, Method
from lifelong_co.seeding import python_seed


def multi_task_epoch() -> Method:
    """Return the method that switches tasks after every epoch (POMO-MT-EL)."""
    return scheduled_method(by_epoch=True)


def multi_task_batch() -> Method:
    """Return the method that switches tasks after every batch (POMO-MT-BL)."""
    return scheduled_method(by_epoch=False)


def scheduled_method(*, by_epoch: bool) -> Method:
    """Return the method that learns what the schedule says."""
    plan: list[tuple[int, int]] = []
    carried: dict[str, Any] = {}  # the optimizer's state, between two of the loop's tasks

    def instances(learner: LearnerState) -> Any:
        if not plan:
            plan.extend(counted(schedule(learner.tasks, learner.schedule_seed, by_epoch=by_epoch)))
        return learner.draw(*plan[step(learner)])

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
        instances=instances,
        after_task=after_task,
        state_dict=lambda: {"optimizer": dict(carried)},
        load_state_dict=load_state_dict,
    )


def schedule(tasks: Sequence[Any], seed: int, *, by_epoch: bool) -> list[int]:
    """Return the index of the task that each step of the run learns."""
    draw = random.Random(python_seed(seed, "multi-task schedule"))
    if by_epoch:
        epochs = [j for j, task in enumerate(tasks) for _ in range(task.epochs)]
        draw.shuffle(epochs)
        return [j for j in epochs for _ in range(tasks[j].batches)]
    steps = [j for j, task in enumerate(tasks) for _ in range(task.epochs * task.batches)]
    draw.shuffle(steps)
    return steps


def counted(tasks: Iterable[int]) -> list[tuple[int, int]]:
    """Return each task with how often it came before: a task that drifts does so as it is drawn."""
    seen: Counter[int] = Counter()
    found = []
    for task in tasks:
        found.append((task, seen[task]))
        seen[task] += 1
    return found


def step(learner: LearnerState) -> int:
    """Return how many steps the run took before this one."""
    return sum(learner.step_of(task) for task in range(learner.task + 1))
