"""The check of an objective."""

from collections.abc import Callable
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Method, Objective, Rollout, Solver
from lifelong_co.rollout.soundness import FIELDS
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect
from lifelong_co.testing.gradients import check_gradients
from lifelong_co.testing.samples import draw_instances, mode, observed_rollout
from lifelong_co.testing.trial import new_trial, stored


def check_objective(
    objective: Callable[[Solver], Objective],
    solver: Solver,
    *,
    instances: Any = None,
    seed: int = 0,
) -> None:
    """Check an objective with a solver.

    - ``loss`` returns a finite scalar with finite gradients, not all zero. It changes neither the
      instances nor the rollout.
    - It makes cheap trajectories likelier than expensive ones: over the trajectories of an
      instance, the cost correlates with the gradient by the log-likelihood. If the costs are nearly
      equal, others take their place. This is not checked for a solver with one trajectory, and for
      a loss that does not use the log-likelihood of the rollout.
    - ``state_dict`` can be saved in a checkpoint, and loading it gives the same loss.

    Parameters
    ----------
    objective
        Makes the objective of a solver.
    solver
        It is not changed.
    instances
        A batch of instances. None: three of the distribution ``U`` with ten nodes.
    seed
        Seed of the instances and the actions.

    Raises
    ------
    ContractError
        If the objective breaks its contract.
    """
    check = "check_objective"
    if instances is None:
        instances = draw_instances(solver, seed=seed)
    with torch.enable_grad(), mode(solver.module, training=True):
        n = solver.problem.size(instances)
        trial = new_trial(Method(), solver, "U", (n,), seed, instances=instances)
        made = objective(solver)
        expect(isinstance(made, Objective), check, "an Objective", type(made).__name__)
        made.before_task(trial.learner)
        rollout, _ = observed_rollout(solver, instances, "sample", seed)
        seen = {**records.tensors(instances), **{f: getattr(rollout, f) for f in FIELDS}}
        before = {name: tensor.detach().clone() for name, tensor in seen.items()}
        loss = made.loss(instances, rollout)
        changed = ", ".join(name for name in seen if not records.same(before[name], seen[name]))
        what = "a loss that leaves instances and rollout unchanged"
        expect(not changed, check, what, f"changed {changed}")
        expect(isinstance(loss, Tensor), check, "a tensor as loss", type(loss).__name__)
        check_gradients(check, "the loss", loss, solver)
        if rollout.cost.shape[1] > 1:
            _check_direction(made, instances, rollout)
        made.after_epoch(trial.learner)
        restored = objective(solver)
        restored.before_task(trial.learner)
        restored.load_state_dict(trial.learner, stored(check, made.state_dict()))
        went_on, again = (each.loss(instances, rollout) for each in (made, restored))
        what = f"the same loss {went_on.item():g} after load_state_dict"
        expect(torch.equal(again, went_on), check, what, again.item())


def _check_direction(objective: Objective, instances: Any, rollout: Rollout) -> None:
    """Check that the gradient makes cheap trajectories likelier, with these costs or with others.

    Where the policy is nearly certain, the costs differ less from each other than from a baseline
    of another rollout. Then the sign says nothing, and costs that are far apart decide.
    """
    spread = torch.linspace(1, 10, rollout.cost.shape[1]).to(rollout.cost)
    for cost in (rollout.cost, rollout.cost * spread):
        leaf = rollout.log_likelihood.detach().requires_grad_()
        loss = objective.loss(instances, attrs.evolve(rollout, cost=cost, log_likelihood=leaf))
        if not loss.requires_grad:
            return
        (gradient,) = torch.autograd.grad(loss, leaf, allow_unused=True)
        if gradient is None:
            return
        together = float(((cost - cost.mean(dim=1, keepdim=True)) * gradient).sum())
        if together > 0:
            return
    expect(False, "check_objective", "a gradient that makes cheap trajectories likelier", together)
