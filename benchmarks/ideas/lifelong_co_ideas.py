"""Ideas that were tried and dropped, as methods made of `rehearsal` and `llr-bc`.

They are a plugin, so that the study ``ideas.toml`` can run them like any method. They have no
options: `llr-bc` has those of preset `demo`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import attrs
import torch
from lifelong_co_plugins.methods import rehearsal
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.solved import SolvedTasks, better, solved
from torch import Tensor

import lifelong_co as lco
from lifelong_co.config.presets import preset
from lifelong_co.hookspecs import Register
from lifelong_co.protocols import LearnerState, Method, Observer, Rollout
from lifelong_co.seeding import generator
from lifelong_co.tasks.instances import training
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import device_of, evaluating


def of_demo(name: str) -> Method:
    """Return a method with its options in preset `demo`."""
    return lco.method(name, **preset("demo").method_options.get(name, {}))


def both(first: Method, second: Method) -> Method:
    """Return a method that does what both do, on the instances and batches of the first one."""

    def in_turn(name: str) -> Callable[[LearnerState], None]:
        def call(learner: LearnerState) -> None:
            getattr(first, name)(learner)
            getattr(second, name)(learner)

        return call

    def observer(learner: LearnerState, instances: Any) -> Observer | None:
        found = [each.observer(learner, instances) for each in (first, second)]
        observers = [observe for observe in found if observe is not None]

        def observe(state: Any, log_probs: Tensor) -> None:
            for each in observers:
                each(state, log_probs)

        return observe if observers else None

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterator[tuple[str, Tensor]]:
        theirs = iter(second.loss_terms(learner, rollout))
        # Asked for before any backward pass but that of the policy: units are of its gradient.
        ahead = [*islice(theirs, 1)]
        yield from first.loss_terms(learner, rollout)
        yield from ahead
        yield from theirs

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        first.load_state_dict(learner, state["first"])
        second.load_state_dict(learner, state["second"])

    places = ("before_task", "before_epoch", "after_step", "after_epoch", "after_task")
    return attrs.evolve(
        first,
        **{name: in_turn(name) for name in places},
        observer=observer,
        loss_terms=loss_terms,
        state_dict=lambda: {"first": first.state_dict(), "second": second.state_dict()},
        load_state_dict=load_state_dict,
    )


def consolidated() -> Method:
    """Return `rehearsal` with the consolidation loss of `llr-bc` beside it."""
    return both(of_demo("rehearsal"), of_demo("llr-bc"))


def averaged() -> Method:
    """Return `rehearsal` that ends each task with averaged weights."""
    return both(of_demo("rehearsal"), of_demo("averaged-weights"))


def second_half() -> Method:
    """Return `rehearsal` that replays in the second half of a task only."""
    whole = of_demo("rehearsal")

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterator[tuple[str, Tensor]]:
        present = learner.tasks[learner.task]
        late = 2 * learner.step_of(learner.task) >= present.epochs * present.batches
        # As in the first task nothing is replayed, but the norm of the gradient is noted.
        yield from whole.loss_terms(learner if late else attrs.evolve(learner, task=0), rollout)

    return attrs.evolve(whole, loss_terms=loss_terms)


def imitating(kept: SolvedTasks, solve: Callable[[LearnerState, InstanceMemory], None]) -> Method:
    """Return `rehearsal` whose stored solutions are only changed by ``solve``, before each task."""
    rest = {name: getattr(kept, name) for name in ("take", "forced", "state_dict")}
    load = {"load_state_dict": kept.load_state_dict}
    solutions = SimpleNamespace(solve=solve, improve=lambda *_: None, **rest, **load)
    with patch.object(rehearsal, "SolvedTasks", lambda: solutions):
        return of_demo("rehearsal")


def solutions_stay() -> Method:
    """Return `rehearsal` that always imitates the greedy solutions from the end of their task."""
    kept = SolvedTasks()
    return imitating(kept, kept.solve)


def solved_again() -> Method:
    """Return `rehearsal` that solves all stored instances before each task, and keeps the best."""
    kept = SolvedTasks()

    @torch.no_grad()
    def solve(learner: LearnerState, memory: InstanceMemory) -> None:
        for task, known in enumerate(kept.tasks):
            with evaluating(learner.solver.module):
                held = list(memory.reservoirs[task])
                new = solved(learner.solver, held, learner.tasks[task].batch_size)
            kept.tasks[task] = better(known, new)
        kept.solve(learner, memory)

    return imitating(kept, solve)


def loosening() -> Method:
    """Return `llr-bc` whose weight falls with its loss.

    The weight is multiplied by the average loss of the last ten steps or so, over the highest such
    average of the task.
    """
    whole = of_demo("llr-bc")
    seen = {"loss": 0.0, "highest": 0.0, "steps": 0}

    def before_task(learner: LearnerState) -> None:
        whole.before_task(learner)
        seen.update(loss=0.0, highest=0.0, steps=0)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterator[tuple[str, Tensor]]:
        for name, term in whole.loss_terms(learner, rollout):
            seen["loss"] = 0.9 * seen["loss"] + 0.1 * term.item()
            seen["steps"] += 1
            average = seen["loss"] / (1 - 0.9 ** seen["steps"])
            seen["highest"] = max(seen["highest"], average)
            share = average / seen["highest"] if seen["highest"] else 1.0
            yield name, share * term

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        whole.load_state_dict(learner, state["whole"])
        seen.update(state["seen"])

    return attrs.evolve(
        whole,
        before_task=before_task,
        loss_terms=loss_terms,
        state_dict=lambda: {"whole": whole.state_dict(), "seen": dict(seen)},
        load_state_dict=load_state_dict,
    )


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


@lco.hookimpl
def register_methods(register: Register) -> None:
    """Register the ideas."""
    register("rehearsal-consolidated", consolidated)
    register("rehearsal-averaged", averaged)
    register("rehearsal-second-half", second_half)
    register("rehearsal-solutions-stay", solutions_stay)
    register("rehearsal-solved-again", solved_again)
    register("rehearsal-best-start", partial(best_start, "rehearsal"))
    register("llr-bc-best-start", partial(best_start, "llr-bc"))
    register("llr-bc-loosening", loosening)
