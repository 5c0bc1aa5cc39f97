"""Ideas about parameters: which ones a task starts from, and which ones it leaves."""

from collections.abc import Mapping
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import LearnerState, Method
from lifelong_co.seeding import generator
from lifelong_co.tasks.instances import training
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import device_of, evaluating
from lifelong_co_ideas.together import both, of_demo

KEPT = 0.2
"""The share of each parameter's numbers that a reset leaves."""


def best_start(name: str) -> Method:
    """Return a method that starts each task from the best of its solvers so far (FAME).

    Those are the solvers before the first task and after each task. The best one has the lowest
    greedy cost on 128 training instances of the new task.
    """
    whole = of_demo(name)
    solvers: list[dict[str, Tensor]] = []

    def note(learner: LearnerState) -> None:
        state = learner.solver.module.state_dict()
        solvers.append({key: value.clone() for key, value in state.items()})

    @torch.no_grad()
    def before_task(learner: LearnerState) -> None:
        if not solvers:
            note(learner)
        whole.before_epoch(learner)  # `rehearsal` solves with the solver from the last task
        module = learner.solver.module
        stream = generator(learner.schedule_seed, f"best start {learner.task}", device_of(module))
        drawn = training(learner.tasks[learner.task], learner.problem)(stream, 128)
        instances = records.to(drawn, device_of(module))
        costs = []
        with evaluating(module):
            for state in solvers:
                module.load_state_dict(state)
                rollout = learner.solver.rollout(instances, "greedy")
                costs.append(rollout.cost.amin(dim=1).mean().item())
        # Of equally good ones the latest.
        best = min(reversed(range(len(costs))), key=costs.__getitem__)
        module.load_state_dict(solvers[best])
        whole.before_task(learner)

    def after_task(learner: LearnerState) -> None:
        whole.after_task(learner)
        note(learner)

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        whole.load_state_dict(learner, state["whole"])
        device = device_of(learner.solver.module)
        solvers[:] = [{key: x.to(device) for key, x in one.items()} for one in state["solvers"]]

    return attrs.evolve(
        whole,
        before_task=before_task,
        after_task=after_task,
        state_dict=lambda: {"whole": whole.state_dict(), "solvers": list(solvers)},
        load_state_dict=load_state_dict,
    )


def weight_space() -> Method:
    """Return `rehearsal` with `consolidated_in_weight_space`."""
    return both(of_demo("rehearsal"), consolidated_in_weight_space())


def consolidated_in_weight_space() -> Method:
    """Return a method that resets and averages parameters, after arXiv 2502.07274.

    From the second task on: after a quarter of its steps, four fifths of each parameter's numbers
    go halfway back to the solver before the task, those of the lowest ``|m| v`` (`m` and `v` are
    Adam's averages of the gradient and of its square). The mean of the parameters after each later
    step is the solver at the end of the task. The quarter and a mean over all later steps are our
    choice.
    """
    before: list[Tensor] = []
    average: list[Tensor] = []

    def parameters(learner: LearnerState) -> list[Tensor]:
        return [each.data for each in learner.solver.module.parameters()]

    def before_task(learner: LearnerState) -> None:
        before[:] = [each.clone() for each in parameters(learner)] if learner.task else []
        average.clear()

    @torch.no_grad()
    def after_step(learner: LearnerState) -> None:
        task = learner.tasks[learner.task]
        late = learner.step_of(learner.task) + 1 - max(1, task.epochs * task.batches // 4)
        if not learner.task or late < 0:
            return
        if late == 0:
            reset(learner.optimizer, before)
            average[:] = [torch.zeros_like(each) for each in before]
            return
        for mean, value in zip(average, parameters(learner), strict=True):
            mean.lerp_(value, 1 / late)

    @torch.no_grad()
    def after_task(learner: LearnerState) -> None:
        if learner.task:
            for value, mean in zip(parameters(learner), average, strict=True):
                value.copy_(mean)

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        device = device_of(learner.solver.module)
        before[:] = [each.to(device) for each in state["before"]]
        average[:] = [each.to(device) for each in state["average"]]

    return Method(
        before_task=before_task,
        after_step=after_step,
        after_task=after_task,
        state_dict=lambda: {"before": [*before], "average": [*average]},
        load_state_dict=load_state_dict,
    )


def reset(optimizer: torch.optim.Optimizer, before: list[Tensor]) -> None:
    """Move the numbers of each parameter that matter least halfway back."""
    values = [value for group in optimizer.param_groups for value in group["params"]]
    for value, old in zip(values, before, strict=True):
        moments = optimizer.state[value]
        rank = (moments["exp_avg"].abs() * moments["exp_avg_sq"]).flatten()
        fewest = rank.argsort()[: round((1 - KEPT) * len(rank))]
        value.data.view(-1)[fewest] = value.data.view(-1)[fewest].lerp(old.view(-1)[fewest], 0.5)
