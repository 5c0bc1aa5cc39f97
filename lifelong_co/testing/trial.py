"""A small run in memory, for the check of methods; the order of its calls is that of `learn`."""

import copy
import json
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import CheckpointError, ComponentError
from lifelong_co.protocols import LearnerState, Method, Objective, Observer, Solver
from lifelong_co.protocols.learning import RESERVED
from lifelong_co.rollout.observing import changed_by
from lifelong_co.seeding import generator
from lifelong_co.storage.tree import flatten, unflatten
from lifelong_co.tasks.stream import TaskStream, task_stream
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records
from lifelong_co.tensors.backward import differentiate
from lifelong_co.testing.contract import ContractError, expect

CHECK = "check_method"


@attrs.define(eq=False, kw_only=True)
class Trial:
    """A small run in memory."""

    method: Method
    objective: Objective
    learner: LearnerState
    actions: torch.Generator
    steps: int = 0
    asked: int = 1
    """How often `Method.batches` is called each time; an estimate of the time calls it, too."""

    def run(self, until: int | None = None, *, ended: bool = False) -> None:
        """Learn to the end, or until a step is finished; the order of calls is that of `learn`.

        With ``ended`` it ends after the end of the epoch of this step.
        """
        learner, method = self.learner, self.method
        for task in range(learner.task, len(learner.tasks)):
            learner.task = task
            if learner.epoch == learner.batch == 0:
                learner.optimizer = new_optimizer(learner.solver)
                method.before_task(learner)
                self.objective.before_task(learner)
            while learner.epoch < learner.tasks[task].epochs:
                if learner.batch == 0:
                    method.before_epoch(learner)
                while learner.batch < self.batches():
                    self.step()
                    if self.steps == until and not ended:
                        return
                method.after_epoch(learner)
                self.objective.after_epoch(learner)
                learner.epoch, learner.batch = learner.epoch + 1, 0
                if self.steps == until:
                    return
            method.after_task(learner)
            learner.epoch = 0

    def batches(self) -> int:
        """Return the number of batches of the present epoch."""
        for _ in range(self.asked):
            count = self.method.batches(self.learner)
        whole = isinstance(count, Integral) and count >= 1
        expect(whole, CHECK, "batches of at least 1", repr(count))
        return count

    def step(self) -> None:
        """Take one step."""
        learner, solver = self.learner, self.learner.solver
        instances = self.method.instances(learner)
        kind = learner.problem.instances_type
        what = f"instances of type {kind.__name__}"
        expect(isinstance(instances, kind), CHECK, what, type(instances).__name__)
        observe = self.method.observer(learner, instances)
        if observe is not None:
            observe = _reading(observe)
        rollout = solver.rollout(instances, "sample", generator=self.actions, observe=observe)
        learner.optimizer.zero_grad()
        self.objective.loss(instances, rollout).backward()
        terms: object = self.method.loss_terms(learner, rollout)
        expect(isinstance(terms, Iterable), CHECK, "loss terms (name, scalar)", f"{terms!r:.80}")
        assert isinstance(terms, Iterable)  # for the type checker
        for item in terms:
            pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
            expect(pair, CHECK, "loss terms (name, scalar)", f"{item!r:.80}")
            name, term = item
            what = f"a loss term with another name than {', '.join(RESERVED)}"
            expect(name not in RESERVED, CHECK, what, repr(name))
            scalar = isinstance(term, Tensor) and term.ndim == 0 and term.requires_grad
            what = f"a scalar with gradients as loss term {name!r}"
            expect(scalar, CHECK, what, f"{term!r:.80}".replace("\n", " "))
            expect(bool(term.isfinite()), CHECK, f"a finite loss term {name!r}", term.item())
            try:
                differentiate(name, term)
            except ComponentError as error:
                expected = f"loss term {name!r} with a separate graph"
                came = "one that shares nodes with the rollout or another term"
                raise ContractError(CHECK, expected, came) from error
        learner.optimizer.step()
        self.method.after_step(learner)
        learner.batch += 1
        self.steps += 1

    def saved(self) -> dict[str, Any]:
        """Return the state as a checkpoint has it."""
        learner = self.learner
        return {
            "place": (learner.task, learner.epoch, learner.batch),
            "parameters": copy.deepcopy(learner.solver.module.state_dict()),
            "optimizer": copy.deepcopy(learner.optimizer.state_dict()),
            "method": stored(CHECK, self.method.state_dict()),
            "objective": stored(CHECK, self.objective.state_dict()),
            "streams": (self.actions.get_state(), learner.stream.generator.get_state()),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore `saved`."""
        learner = self.learner
        learner.task, learner.epoch, learner.batch = state["place"]
        learner.solver.module.load_state_dict(state["parameters"])
        learner.optimizer = new_optimizer(learner.solver)
        learner.optimizer.load_state_dict(state["optimizer"])
        self.method.load_state_dict(learner, state["method"])
        self.objective.load_state_dict(learner, state["objective"])
        self.actions.set_state(state["streams"][0])
        learner.stream.generator.set_state(state["streams"][1])


def _reading(observe: Observer) -> Observer:
    """Return an observer that fails the check if the given one changes what it sees."""

    def checked(state: Any, log_probs: Tensor) -> None:
        changed = changed_by(observe, state, log_probs)
        came = f"one that changes {', '.join(changed)}"
        expect(not changed, CHECK, "an observer that only reads", came)

    return checked


def new_trial(
    method: Method,
    solver: Solver,
    distribution: str,
    sizes: tuple[int, ...],
    seed: int,
    *,
    instances: Any = None,
) -> Trial:
    """Return a run that has not begun; its batches are drawn from ``instances`` if there are any.

    ``distribution`` need not have instances of the problem then.
    """
    expect(isinstance(method, Method), CHECK, "a Method", type(method).__name__)
    tasks = tuple(
        Task(distribution=distribution, size=n, epochs=2, batches=2, batch_size=4) for n in sizes
    )
    solver.module.train()
    draws = generator(seed, "instances")
    if instances is None:
        stream = task_stream(tasks, solver.problem, draws, "cpu")
    else:
        device = str(records.device(instances))
        drawn = [_some_of(instances)] * len(tasks)
        stream = TaskStream(tasks, drawn, draws, device, solver.problem)
    learner = LearnerState(
        problem=solver.problem,
        solver=solver,
        optimizer=new_optimizer(solver),
        initial=copy.deepcopy(solver.module.state_dict()),
        tasks=tasks,
        stream=stream,
        seed=seed,
        schedule_seed=seed,
    )
    return Trial(
        method=method,
        objective=solver.objective(),
        learner=learner,
        actions=generator(seed, "actions"),
    )


def _some_of(instances: Any) -> Callable[[torch.Generator, int, int], Any]:
    """Return what draws a batch of given instances, with replacement."""

    def draw(stream: torch.Generator, step: int, batch: int) -> Any:  # noqa: ARG001
        rows = torch.randint(records.rows(instances), (batch,), generator=stream)
        return records.select(instances, rows.to(records.device(instances)))

    return draw


def new_optimizer(solver: Solver) -> torch.optim.Optimizer:
    """Return a new optimizer."""
    return torch.optim.Adam(solver.module.parameters(), lr=1e-3)


def stored(check: str, state: Any) -> Any:
    """Return a state that was written to a checkpoint and read again."""
    try:
        skeleton, tensors = flatten(state)
    except CheckpointError as error:
        raise ContractError(check, "a state_dict that can be saved", str(error)) from error
    copies = [tensor.clone() for tensor in tensors]
    return unflatten(json.loads(json.dumps(skeleton)), lambda index: copies[index])
