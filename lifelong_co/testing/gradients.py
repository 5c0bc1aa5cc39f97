"""Checks that a solver can learn: the gradients of both losses, in training mode.

The checks change neither the parameters nor their ``grad``.
"""

from typing import Any

import torch
from torch import Tensor

from lifelong_co.protocols import Method, Objective, Solver
from lifelong_co.replay.consolidation import BEHAVIORS, consolidation_loss
from lifelong_co.tensors.backward import leaves
from lifelong_co.testing.contract import expect, expect_everywhere
from lifelong_co.testing.samples import mode, observed_rollout
from lifelong_co.testing.trial import new_trial

NEARLY = 0.01
"""The largest relative difference of two computations of a gradient."""


def check_policy_gradient(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check the gradients of the policy.

    - The loss of `objective` is a finite scalar with finite gradients, not all zero.
    - Each trainable parameter has one. Those that a problem does not use are frozen:
      ``requires_grad_(False)``.
    - Gradients flow into parameters of the module only.
    - The log-likelihood has the gradient of the sum of `log_probs` in the observed states: no step
      is detached or has other parameters.
    """
    with torch.enable_grad(), mode(solver.module, training=True):
        learning = any(True for _ in solver.module.parameters())
        expect(learning, "check_policy_gradient", "a module with parameters", "none")
        size = (solver.problem.size(instances),)
        trial = new_trial(Method(), solver, "U", size, seed, instances=instances)
        objective = trial.objective
        kind = type(objective).__name__
        expect(isinstance(objective, Objective), "check_policy_gradient", "an Objective", kind)
        objective.before_task(trial.learner)
        rollout, steps = observed_rollout(solver, instances, "sample", seed)
        loss = objective.loss(instances, rollout)
        check_gradients("check_policy_gradient", "the policy loss", loss, solver)
        trained = {id(leaf) for leaf in leaves(loss)}
        named = solver.module.named_parameters()
        unused = [n for n, p in named if p.requires_grad and id(p) not in trained]
        expected = "gradients of the policy loss in every trainable parameter"
        expect(not unused, "check_policy_gradient", expected, f"none in {', '.join(unused[:3])}")
        expect(bool(steps), "check_policy_gradient", "calls of the observer", "none")
        own = {id(parameter) for parameter in solver.module.parameters()}
        for leaf in leaves(rollout.log_likelihood):
            came = f"another one, of shape {list(leaf.shape)}"
            expected = "all parameters in the module"
            expect(id(leaf) in own, "check_policy_gradient", expected, came)
        first = rollout.actions.shape[2] - len(steps)
        encoding = solver.encode(instances)
        total = torch.stack(
            [
                solver.log_probs(encoding, step.state)
                .gather(2, rollout.actions[..., t, None])
                .sum()
                for t, step in enumerate(steps, start=first)
            ]
        ).sum()
        if total.requires_grad:  # otherwise `check_consolidation_gradient` fails
            _check_same_gradients(solver, rollout.log_likelihood.sum(), total)


def check_consolidation_gradient(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that the consolidation loss is a finite scalar with finite gradients, not all zero.

    The experiences are all steps of a sampled rollout, packed and replayed. The divergences are
    ``kl`` and ``rkl``, each in the paper's and in the official version. The teacher is the solver's
    behavior, changed so that later actions are more likely: without the change the gradient would
    be zero. Actions of probability zero are the same for teacher and learner.
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
                check_gradients("check_consolidation_gradient", what, loss, solver)


def check_gradients(check: str, what: str, loss: Tensor, solver: Solver) -> None:
    """Check that a loss is a finite scalar with finite gradients, not all zero."""
    expect(loss.ndim == 0, check, f"{what} to be a scalar", f"shape {list(loss.shape)}")
    expect(bool(loss.isfinite()), check, f"{what} to be finite", loss.item())
    expect(loss.requires_grad, check, f"{what} to depend on the parameters", "one without gradient")
    parameters = {n: p for n, p in solver.module.named_parameters() if p.requires_grad}
    expect(bool(parameters), check, "a module with parameters to learn", "none")
    # The graph is kept, because several losses of the same log-probabilities are checked.
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


def _check_same_gradients(solver: Solver, found: Tensor, wanted: Tensor) -> None:
    """Compare the gradients of a log-likelihood with those of a sum of log-probabilities."""
    parameters = {n: p for n, p in solver.module.named_parameters() if p.requires_grad}
    came, want = (
        torch.autograd.grad(
            each, list(parameters.values()), allow_unused=True, materialize_grads=True
        )
        for each in (found, wanted)
    )
    whole = sum(float(each.norm()) for each in want)
    for name, one, other in zip(parameters, came, want, strict=True):
        apart, norm = float((one - other).norm()), float(other.norm())
        expected = f"a log_likelihood with the gradient of the sum of log_probs in {name}"
        differs = f"one that differs by {apart:.3g}, where the norm is {norm:.3g}"
        close = apart <= NEARLY * (norm + NEARLY * whole)
        expect(close, "check_policy_gradient", expected, differs)


def _skewed(log_probs: Tensor) -> Tensor:
    """Return another behavior ``[B, S, A]`` in which the same actions have probability zero."""
    preference = torch.linspace(-1, 1, log_probs.shape[2]).to(log_probs)
    return (log_probs + preference).log_softmax(dim=2)
