"""Multi-task learning of all tasks at once: references without forgetting (paper, appendix).

POMO-MT-EL and POMO-MT-BL, "Comparison with Non-lifelong Settings": all tasks are there from the
beginning, and learning switches between them after every epoch or after every batch.

The lifelong loop takes one task after another. Here its present task decides only when the solver
is tested. A schedule, drawn once from the seed, says which task each of the ``sum_j epochs_j *
batches_j`` steps of the run learns: a shuffle of all epochs of all tasks (task ``j`` has
``epochs_j`` epochs of ``batches_j`` steps), or of all batches. So every task gets exactly the
steps, the batch size and the number of instances of a lifelong run. The paper reports the last row
of the cost matrix, after the whole run; earlier rows belong to an unfinished run. The whole run has
one optimizer: where the loop starts a new Adam, the state of the old one is loaded into it. Epochs
of the schedule need not begin with epochs of the loop.

The official code (LLR-BC at 9ae601f, ``CVRPTrainer_multitask``) differs in two points. It draws the
task of each epoch or batch uniformly and independently, over 1,200 epochs, so the shares of the
tasks are equal only on average. When it switches by batch, an epoch has the mean number of
instances of all tasks, so large tasks get more steps than in a lifelong run, and small ones fewer.
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
    """Return the method that learns the tasks in the order of the schedule."""
    plan: list[tuple[int, int]] = []
    carried: dict[str, Any] = {}  # state of the optimizer, from one task of the loop to the next

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
    """Return each task with the number of its earlier steps, which decides how far it drifts."""
    seen: Counter[int] = Counter()
    found = []
    for task in tasks:
        found.append((task, seen[task]))
        seen[task] += 1
    return found


def step(learner: LearnerState) -> int:
    """Return the number of finished steps of the run."""
    return sum(learner.step_of(task) for task in range(learner.task + 1))
