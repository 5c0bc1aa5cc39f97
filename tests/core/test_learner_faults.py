"""Numbers, solutions and terms that are wrong stop a run."""

from pathlib import Path
from typing import Any, cast

import attrs
import pytest
import torch
from tiny_runs import (
    BATCHES,
    fine_tuning,
    parameters,
)
from torch import Tensor

from lifelong_co.errors import ComponentError, InvalidRolloutError, NotFiniteError
from lifelong_co.learner import learn
from lifelong_co.protocols import LearnerState, Method, Rollout, Solver
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.tensors.finiteness import Watch


def poisoned(run: Run, step: int, where: str) -> None:
    """Make a number of a step NaN: the policy loss, a term, a gradient, a parameter or the cost."""
    module = run.learner.solver.module
    policy, method, parameters = run.objective.loss, run.method, list(module.parameters())

    def here(name: str) -> bool:
        return run.steps == step and where == name

    solver = run.learner.solver

    class Costly:
        def __getattr__(self, name: str) -> Any:
            return getattr(solver, name)

        def rollout(self, *given: Any, **options: Any) -> Rollout:
            found = solver.rollout(*given, **options)
            worthless = torch.full_like(found.cost, torch.nan)
            return attrs.evolve(found, cost=worthless) if here("cost") else found

    def loss(instances: Any, rollout: Rollout) -> Tensor:
        value: Tensor = policy(instances, rollout)
        return value * torch.nan if here("policy") else value

    def terms(learner: LearnerState, rollout: Rollout) -> Any:  # noqa: ARG001
        yield "term", parameters[0].sum() * (torch.nan if here("term") else 0)
        if here("gradient"):
            parameters[0].grad = torch.full_like(parameters[0], torch.inf)

    def after_step(learner: LearnerState) -> None:  # noqa: ARG001
        if here("parameter"):
            parameters[0].data.flatten()[0] = torch.nan

    run.learner.solver = cast(Solver, Costly())
    run.objective = attrs.evolve(run.objective, loss=loss)
    run.method = attrs.evolve(method, loss_terms=terms, after_step=after_step)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("cost", "the cost of the rollout is nan"),
        ("policy", "the loss term 'policy' is nan"),
        ("term", "the loss term 'term' is nan"),
        ("gradient", "the norm of the gradient of .* is inf"),
        ("parameter", "the norm of the parameter .* is nan"),
    ],
)
def test_number_that_is_not_finite_stops_the_run(
    tmp_path: Path, where: str, named: str, late: bool
) -> None:
    """Nothing of the step is saved, and a resumed run stops at the same step."""
    run = fine_tuning(tmp_path)
    seen = set()
    for attempt in range(2):
        run.watch = Watch(late=late)
        poisoned(run, BATCHES + 1, where)  # the second step of the second epoch
        with pytest.raises(NotFiniteError, match=f"U5, epoch 2 of 2, step 2 of 2: {named}") as stop:
            learn(run)
        seen.add(str(stop.value))
        assert not run.costs
        run = prepare(run.config, tmp_path / "run", resume=True)
        assert (run.learner.epoch, run.learner.batch, run.steps) == (1, 0, BATCHES), attempt
        assert all(value.isfinite().all() for value in parameters(run).values())
    assert len(seen) == 1


def test_stop_does_not_save_a_step_that_is_not_finite(tmp_path: Path) -> None:
    """The request to stop comes before a late watch has read the step."""
    run = fine_tuning(tmp_path)
    run.watch = Watch(late=True)
    poisoned(run, 0, "parameter")
    with pytest.raises(NotFiniteError, match="step 1 of 2"):
        learn(run, stop=lambda: True)
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


def test_invalid_test_solution_is_not_scored(tmp_path: Path) -> None:
    """The message names the tested task; the checkpoint is from before."""
    run = fine_tuning(tmp_path)

    def spoil(learner: LearnerState) -> None:
        for parameter in learner.solver.module.parameters():
            parameter.data.fill_(torch.nan)

    run.method = attrs.evolve(run.method, after_task=spoil)
    with pytest.raises(InvalidRolloutError, match="POMO, instance 1 of 3") as stopped:
        learn(run)
    (note,) = stopped.value.__notes__
    assert "test of task U5 after epoch 2 of task U5" in note
    assert "by solver 'pomo'; nothing of it is saved" in note
    assert not run.costs
    resumed = prepare(run.config, tmp_path / "run", resume=True)
    assert (resumed.learner.epoch, resumed.steps) == (1, BATCHES)
    assert not (tmp_path / "run" / "checkpoints" / "after-task-1").exists()


def test_method_with_a_detached_term_is_refused(tmp_path: Path) -> None:
    """The message names the method and the term."""
    run = fine_tuning(tmp_path)
    run.method = Method(loss_terms=lambda learner, rollout: [("mine", torch.ones(()))])  # noqa: ARG005
    with pytest.raises(ComponentError, match="method 'fine-tuning', loss term 'mine'"):
        learn(run)
