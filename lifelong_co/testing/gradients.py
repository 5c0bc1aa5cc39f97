"""Checks that a solver learns: gradients of both losses, in training mode.

Gradients are taken aside; neither parameters nor what is in their ``grad`` changes.
"""

import copy
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import LearnerState, Solver
from lifelong_co.replay.consolidation import BEHAVIORS, consolidation_loss
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect, expect_everywhere
from lifelong_co.testing.samples import mode, observed_rollout


def check_policy_gradient(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check the loss of `objective`: a finite scalar, its gradients finite and not all zero."""
    with torch.enable_grad(), mode(solver.module, training=True):
        objective = solver.objective()
        objective.before_task(_standing(solver, instances, seed))
        rollout, _ = observed_rollout(solver, instances, "sample", seed)
        loss = objective.loss(instances, rollout)
        _check_gradients("check_policy_gradient", "the policy loss", loss, solver)


def check_consolidation_gradient(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check the same of the consolidation loss, towards a teacher that prefers later actions.

    On a whole sampled rollout, packed and replayed, for ``kl`` and ``rkl``, both as the paper has
    them and as the official code does. The teacher's support is the solver's own, as when it
    teaches itself: towards its very own behavior the gradient would be zero.
    """
    with torch.enable_grad(), mode(solver.module, training=True):
        with torch.no_grad():
            _, steps = observed_rollout(solver, instances, "sample", seed)
        teachers = [_skewed(step.unit.log_probs()) for step in steps]
        encoding = solver.encode(instances)
        learners = [solver.log_probs(encoding, step.unit.state()) for step in steps]
        for behavior in BEHAVIORS:
            for divergence in ("kl", "rkl"):
                loss = consolidation_loss("variance", divergence, behavior)(teachers, learners)
                what = f"the consolidation loss ({divergence}, {behavior})"
                _check_gradients("check_consolidation_gradient", what, loss, solver)


def _check_gradients(check: str, what: str, loss: Tensor, solver: Solver) -> None:
    expect(loss.ndim == 0, check, f"{what} to be a scalar", f"shape {list(loss.shape)}")
    expect(bool(loss.isfinite()), check, f"{what} to be finite", loss.item())
    expect(loss.requires_grad, check, f"{what} to depend on the parameters", "one without gradient")
    parameters = {n: p for n, p in solver.module.named_parameters() if p.requires_grad}
    expect(bool(parameters), check, "a module with parameters", "none that learns")
    # The graph is kept, since several losses of the same log-probabilities are checked.
    gradients = torch.autograd.grad(
        loss, list(parameters.values()), allow_unused=True, retain_graph=True
    )
    moved = False
    for name, gradient in zip(parameters, gradients, strict=True):
        if gradient is not None:
            expected = f"finite gradients of {what} in {name}"
            expect_everywhere(check, expected, gradient.isfinite(), gradient)
            moved = moved or bool(gradient.any())
    expect(moved, check, f"gradients of {what}", "zero for every parameter")


def _skewed(log_probs: Tensor) -> Tensor:
    """Return another behavior ``[B, S, A]`` with the same support."""
    preference = torch.linspace(-1, 1, log_probs.shape[2]).to(log_probs)
    return (log_probs + preference).log_softmax(dim=2)


@attrs.frozen(eq=False)
class Repeated:
    """A stream that has nothing but one batch."""

    instances: Any

    def batch(self, task: int, step: int) -> Any:  # noqa: ARG002
        """Return it."""
        return self.instances


def _standing(solver: Solver, instances: Any, seed: int) -> LearnerState:
    """Return the start of a task of one batch."""
    parameters = list(solver.module.parameters())
    expect(bool(parameters), "check_policy_gradient", "a module with parameters", "none")
    task = Task(
        distribution="U",
        size=solver.problem.size(instances),
        epochs=1,
        batches=1,
        batch_size=records.rows(instances),
    )
    return LearnerState(
        problem=solver.problem,
        solver=solver,
        optimizer=torch.optim.Adam(parameters),
        initial=copy.deepcopy(solver.module.state_dict()),
        tasks=(task,),
        stream=Repeated(instances),
        seed=seed,
    )
