"""EWC: elastic weight consolidation (Kirkpatrick et al. 2017, eq. 3; paper §4).

Each parameter is pulled back to its value after each past task, the more it mattered there:
``L = L_DRL + weight * sum_k sum_i F_k,i (theta_i - theta*_k,i)^2``, with one term for each past
task ``k`` (online EWC has only the last).

As in the official code (LLR-BC at 9ae601f, ``CVRPTrainer_EWC``), and unlike Kirkpatrick et al.,
there is no factor 1/2, and the Fisher information has another scale (`fisher.fisher_information`).

One thing differs from the official code: its Fisher batches come from the stream of training
instances, ours from a separate stream, so that they do not change what is learned from. Neither
computes the Fisher information of the run's last task, which nothing uses. The paper's weight is
10, the default of its code 1; ours is the paper's.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.tensors.modules import device_of
from lifelong_co.validators import at_least_one, at_least_zero
from lifelong_co_plugins.methods.kept import Kept
from lifelong_co_plugins.methods.regularization.fisher import fisher_information
from lifelong_co_plugins.methods.regularization.weight_unit import WeightUnit


def ewc(weight: float = 10.0, fisher_batches: int = 16, weight_unit: str = "absolute") -> Method:
    """Return EWC: parameters that mattered to past tasks stay near their values.

    Parameters
    ----------
    weight
        Weight of the sum of all past tasks' terms, at least 0.
    fisher_batches
        Training batches from which the Fisher information of a task is estimated, at least 1.
    weight_unit
        ``absolute``, or ``gradient``, as ``alpha_unit`` in `llr_bc.llr_bc`.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    UnknownNameError
        If there is no such unit.
    """
    at_least_zero("method 'ewc'", {"weight": weight})
    at_least_one("method 'ewc'", {"fisher_batches": fisher_batches})
    anchors, unit = Anchors(fisher_batches), WeightUnit("weight_unit", weight_unit)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
        if anchors.past and weight:
            yield "ewc", weight * unit.now(learner) * anchors.penalty(learner.solver.module)

    kept = Kept(anchors, unit)
    return Method(
        loss_terms=loss_terms,
        before_task=anchors.before_task,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


class Anchors:
    """The parameters after each past task, with their Fisher information on that task."""

    def __init__(self, batches: int) -> None:
        self.batches = batches
        self.past: list[dict[str, dict[str, Tensor]]] = []

    def before_task(self, learner: LearnerState) -> None:
        """Keep the parameters of the task just learned, now that another one follows."""
        if len(self.past) == learner.task:  # the first task, or a run of an earlier version
            return
        fisher = fisher_information(learner, learner.task - 1, self.batches)
        named = dict(learner.solver.module.named_parameters())
        parameters = {name: named[name].detach().clone() for name in fisher}
        self.past.append({"parameters": parameters, "fisher": fisher})

    def penalty(self, module: nn.Module) -> Tensor:
        """Return ``sum_k sum_i F_k,i (theta_i - theta*_k,i)^2``; there must be a past task."""
        named = dict(module.named_parameters())
        terms = [
            (fisher * (named[name] - task["parameters"][name]).square()).sum()
            for task in self.past
            for name, fisher in task["fisher"].items()
        ]
        return torch.stack(terms).sum()

    def state_dict(self) -> dict[str, Any]:
        """Return all of it."""
        return {"past": self.past}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        device = device_of(learner.solver.module)
        self.past = [
            {
                kind: {name: tensor.to(device) for name, tensor in tensors.items()}
                for kind, tensors in task.items()
            }
            for task in state["past"]
        ]
