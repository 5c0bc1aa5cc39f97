"""The best solution known of each stored instance of past tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import LearnerState, Rollout, Solver
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import device_of, evaluating
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory, by_shape
from lifelong_co_plugins.methods.instance_replay.solutions import waiting


@attrs.define(eq=False)
class Solved:
    """The solutions of one task's ``N`` instances, in the order of its reservoir."""

    cost: Tensor
    """Float ``[N]``."""
    actions: Tensor
    """Long ``[N, T]``; a shorter solution goes on with its last action."""
    length: Tensor
    """Long ``[N]``: the number of actions in the batch in which the instance was solved."""


class SolvedTasks:
    """What the solver was able to do: old solutions are replaced only by better ones."""

    def __init__(self) -> None:
        self.tasks: list[Solved] = []
        self._forced: int | None = None

    @torch.no_grad()
    def solve(self, learner: LearnerState, memory: InstanceMemory) -> None:
        """Solve the stored instances of past tasks that have no solutions yet, greedily.

        Of several trajectories of an instance the best one counts.
        """
        for task in range(len(self.tasks), learner.task):
            held = list(memory.reservoirs[task])
            if held:  # else the memory holds nothing of any task
                with evaluating(learner.solver.module):
                    found = solved(learner.solver, held, learner.tasks[task].batch_size)
                self.tasks.append(found)

    @torch.no_grad()
    def improve(self, task: int, places: Sequence[int], rollout: Rollout) -> None:
        """Keep what is better than before in a rollout of the instances at these places."""
        kept = self.tasks[task]
        at = torch.tensor(places, device=kept.actions.device)
        cost, actions = best_of(rollout)
        new = Solved(cost, actions, torch.full_like(at, actions.shape[1]))
        found = better(records.select(kept, at), new)
        self.tasks[task] = Solved(
            cost=kept.cost.index_copy(0, at, found.cost),
            actions=waiting(kept.actions, found.actions.shape[1]).index_copy(0, at, found.actions),
            length=kept.length.index_copy(0, at, found.length),
        )

    def take(self, task: int, places: Sequence[int]) -> Tensor:
        """Return the actions ``[b, 1, T]`` of instances of one size."""
        kept = self.tasks[task]
        index = torch.tensor(places, device=kept.actions.device)
        return kept.actions[index, : int(kept.length[index].max())].unsqueeze(1)

    def forced(self, solver: Solver, instances: Any) -> int:
        """Return how many first actions of a solution are forced; it is counted once."""
        if self._forced is None:
            self._forced = forced_actions(solver, instances)
        return self._forced

    def state_dict(self) -> dict[str, Any]:
        """Return all solutions."""
        return {"tasks": [*map(records.tensors, self.tasks)]}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        device = device_of(learner.solver.module)
        self.tasks = [records.to(Solved(**one), device) for one in state["tasks"]]


def solved(solver: Solver, held: Sequence[Any], batch_size: int) -> Solved:
    """Return greedy solutions of single instances, which may differ in size."""
    found: dict[int, tuple[Tensor, Tensor]] = {}
    for places in by_shape(held).values():
        for first in range(0, len(places), batch_size):
            part = places[first : first + batch_size]
            rollout = solver.rollout(records.concatenate([held[i] for i in part]), "greedy")
            found.update(zip(part, zip(*best_of(rollout), strict=True), strict=True))
    in_order = [found[place] for place in range(len(held))]
    T = max(len(actions) for _, actions in in_order)
    return Solved(
        cost=torch.stack([cost for cost, _ in in_order]),
        actions=torch.stack([waiting(actions, T) for _, actions in in_order]),
        length=torch.tensor([len(a) for _, a in in_order], device=in_order[0][1].device),
    )


def best_of(rollout: Rollout) -> tuple[Tensor, Tensor]:
    """Return the cost ``[B]`` and the actions ``[B, T]`` of each instance's best trajectory."""
    cost, best = rollout.cost.min(dim=1)
    return cost, rollout.actions[torch.arange(len(best), device=best.device), best]


@torch.no_grad()
def forced_actions(solver: Solver, instances: Any) -> int:
    """Return how many first actions of a rollout are forced, by solving the first instance."""
    decisions: list[Tensor] = []
    with evaluating(solver.module):
        rollout = solver.rollout(
            records.select(instances, slice(1)),
            "greedy",
            observe=lambda _, log_probs: decisions.append(log_probs),
        )
    return rollout.actions.shape[2] - len(decisions)


def better(old: Solved, new: Solved) -> Solved:
    """Return the better solution of each instance; of equal ones the old one."""
    T = max(old.actions.shape[1], new.actions.shape[1])
    improved = new.cost < old.cost
    return Solved(
        cost=torch.where(improved, new.cost, old.cost),
        actions=torch.where(improved[:, None], waiting(new.actions, T), waiting(old.actions, T)),
        length=torch.where(improved, new.length, old.length),
    )
