"""Fisher information after a task, as in the official code of EWC; see `fisher_information`."""

import torch
from torch import Tensor

from lifelong_co.errors import ComponentError
from lifelong_co.protocols import LearnerState, Solver
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.tensors.finiteness import fault, norms
from lifelong_co.tensors.modules import device_of, with_parameters
from lifelong_co_plugins.methods.regularization.exemplar import frozen_copy


def fisher_information(learner: LearnerState, number: int, batches: int) -> dict[str, Tensor]:
    """Return the Fisher information of a task, per parameter in its shape.

    It is the official code's (LLR-BC at 9ae601f, ``compute_fisher_matrix``): over the batches the
    sum of ``g^2 / B``, where ``g`` is the gradient of the *mean log-likelihood* of the ``B x S``
    sampled solutions. No cost enters. The empirical Fisher information is the mean of the squared
    gradients of the single solutions; the gradient of their mean has expectation zero, so its
    square is about that divided by ``B S``, and the official division by ``B`` makes it smaller
    still. The weight 10 belongs to this scale. Of ``k`` processes each has batches of ``B / k``, so
    each divides by ``k^2`` to stay on it. With ``--fisher_norm`` the official code maps it to
    ``[0, 1]`` first, which is off by default and left out here.

    Instances and actions come from separate random streams, one pair per task. The run's streams
    and the solver's parameters, gradients and running statistics do not change.

    Parameters
    ----------
    learner
        Its parameters are those after learning the task.
    number
        Number of the task, from 0.
    batches
        How many training batches of the task to draw.

    Raises
    ------
    ComponentError
        If it is not finite; the message names the task and the parameter.
    """
    task = learner.tasks[number]
    device = device_of(learner.solver.module)
    instances = generator(learner.seed, f"fisher instances {number}", device)
    actions = generator(learner.seed, f"fisher actions {number}", device)
    named = learner.solver.module.named_parameters()
    total = {name: torch.zeros_like(value) for name, value in named if value.requires_grad}
    for _ in range(batches):
        batch = learner.stream.apart(number, instances, task.batch_size)
        for name, gradient in likelihood_gradient(learner.solver, batch, actions).items():
            total[name] += gradient.square() / (records.rows(batch) * learner.processes**2)
    found = fault(
        f"after task {task.label}", norms("the Fisher information of the parameter", total)
    )
    if found:
        raise ComponentError(f"{found}, expected finite numbers; lower learning_rate")
    return total


def likelihood_gradient(
    solver: Solver, instances: object, actions: torch.Generator
) -> dict[str, Tensor]:
    """Return the gradient, by parameter, of the mean log-likelihood of sampled solutions."""
    module = solver.module
    tensors = frozen_copy(module)
    learned = [name for name, value in module.named_parameters() if value.requires_grad]
    for name in learned:
        tensors[name].requires_grad_()
    rollout = with_parameters(
        module, tensors, lambda: solver.rollout(instances, "sample", generator=actions)
    )
    found = torch.autograd.grad(
        rollout.log_likelihood.mean(), [tensors[name] for name in learned], allow_unused=True
    )
    return {name: value for name, value in zip(learned, found, strict=True) if value is not None}
