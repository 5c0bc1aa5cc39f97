"""The exemplar: the divergence from it, and the best epoch of a task."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods.regularization.exemplar import BestSoFar, Exemplar, frozen_copy
from tiny_runs import (
    MODEL,
    begun,
    exact_run,
    nudge,
    parameters,
    same,
    stopped_and_resumed,
    tiny_config,
)
from torch import Tensor

import lifelong_co as lco
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare
from lifelong_co.tensors.modules import with_parameters


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("elements", [1, 250, 2**21])
def test_divergence_from_an_exemplar_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str, elements: int
) -> None:
    """The mean over the rollout's states, however many steps share a pass; nothing else moves."""
    monkeypatch.setattr("lifelong_co_plugins.methods.regularization.exemplar.ELEMENTS", elements)
    run = exact_run(tiny_config("libog", problem), tmp_path)
    learner, solver, exemplar = run.learner, run.learner.solver, Exemplar()
    instances = learner.draw(0)
    assert exemplar.observer(learner, instances) is None
    exemplar.copy(solver)
    taught = frozen_copy(solver.module)
    nudge(solver.module, 0.05)
    now = parameters(run)
    watching = exemplar.observer(learner, instances)
    assert watching is not None
    rkl, distances = lco.divergence("rkl"), []

    def observe(state: Any, log_probs: Tensor) -> None:
        watching(state, log_probs)
        teacher = with_parameters(
            solver.module, taught, lambda: solver.log_probs(solver.encode(instances), state)
        )
        distances.append(rkl(teacher, log_probs).detach())

    solver.rollout(instances, "sample", generator=run.actions, observe=observe)
    parts = list(exemplar.divergences(solver, rkl))
    want = torch.stack(distances).mean().item()
    assert sum(part.item() for part in parts) == pytest.approx(want, rel=1e-9)
    assert want > 1e-6
    assert (len(parts) == 1) == (elements == 2**21)
    assert (len(parts) == len(distances)) == (elements == 1)
    for part in parts:
        part.backward()
    assert any(bool(value.grad.any()) for value in solver.module.parameters())
    assert same(exemplar.tensors, taught)
    assert same(parameters(run), now)
    assert solver.module.training


def test_best_epoch_is_kept(tmp_path: Path) -> None:
    """It has the lowest mean of the task; the next task begins without one."""
    run = begun(tmp_path, tiny_config("libog", sizes=(5, 6)))
    learner, exemplar = run.learner, Exemplar()
    best = BestSoFar(exemplar)
    best.before_task(learner)
    kept = []
    for values in ([3.0, 1.0], [5.0, 0.0], [], [1.0, 2.0], [2.0, 1.5]):
        nudge(learner.solver.module, 1.0)
        for value in values:
            best.note(value)
        best.after_epoch(learner)
        kept.append(same(exemplar.tensors, parameters(run)))
    assert kept == [True, False, False, True, False]
    assert best.lowest == 1.5
    best.before_task(learner)
    assert exemplar.tensors == {}
    best.note(99.0)
    best.after_epoch(learner)
    assert same(exemplar.tensors, parameters(run))


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize("method", ["ewc", "libog", "li-inter", "li-intra"])
def test_solver_with_tied_parameters_is_held(method: str, tmp_path: Path) -> None:
    """Torch refuses two tensors for one parameter; a resumed run has the same costs."""

    def tied(problem: Any) -> Any:
        solver: Any = lco.solver("pomo", problem, **MODEL)
        solver.module.value.weight = solver.module.key.weight
        return solver

    @lco.hookimpl
    def register_solvers(register: Any) -> None:
        register("tied", tied)

    lco.register_plugin(SimpleNamespace(register_solvers=register_solvers))
    config = attrs.evolve(tiny_config(method), solver="tied", solver_options={})
    whole = learn(prepare(config, tmp_path / "whole"))
    parted = stopped_and_resumed(config, tmp_path, whole.steps - 2)
    assert same(parameters(parted), parameters(whole))
    assert parted.costs == whole.costs
    assert whole.learner.solver.module.value.weight is whole.learner.solver.module.key.weight
