"""A decision that drifts, in cases constructed so that it is known."""

from typing import Any

import attrs
import pytest
import torch
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co.experiments.paper.drift import find
from lifelong_co.protocols import Problem
from lifelong_co.rollout import decoding as rollout

TSP = lco.problem("tsp")


@attrs.frozen(eq=False)
class Preferring:
    """A TSP solver that goes from each node to the others with fixed preferences."""

    table: Tensor
    """``[n, n]``: log-preferences from node to node."""
    first: int | None = None
    """The node to begin at; None: begin at each."""
    problem: Problem = TSP
    module: nn.Module = attrs.field(factory=lambda: nn.Linear(1, 1))

    def encode(self, instances: Any) -> Any:
        """Return the instances, as nothing is learned of them."""
        return instances

    def log_probs(self, encoding: Any, state: Any) -> Tensor:  # noqa: ARG002
        """Return the preferences among the nodes not visited yet."""
        scores = self.table[state.current]
        return scores.masked_fill(state.visited, -torch.inf).log_softmax(dim=-1)

    def rollout(self, instances: Any, decode: Any = "greedy", **keywords: Any) -> Any:
        """Solve from one node, or from every node."""
        S = self.problem.size(instances) if self.first is None else 1
        (start,) = self.problem.starts(instances, S)
        start = start + (self.first or 0)
        return rollout.rollout(self, instances, decode, starts=[start], trajectories=S, **keywords)


def circle(n: int = 6) -> Any:
    """Return one instance of nodes on a circle, 0 … n - 1 around it."""
    angle = torch.arange(n) * 2 * torch.pi / n
    nodes = 0.5 + 0.4 * torch.stack((angle.cos(), angle.sin()), dim=1)
    return TSP.instances(nodes=nodes[None])


def around(n: int = 6, certainty: float = 8.0) -> Tensor:
    """Return the preferences of going around the circle."""
    table = torch.zeros(n, n)
    table[torch.arange(n), (torch.arange(n) + 1) % n] = certainty
    return table


def test_first_different_decision_is_found():
    """Both go 2, 3, 4; there the old solver is for 5, the next on the circle, the new one for 1."""
    old, new = around(), around()
    old[4], new[4] = torch.tensor([[0.0, 0.2, 0, 0, 0, 0.5], [0.0, 2.0, 0, 0, 0, 1.0]])
    drift = find(Preferring(old, first=2), Preferring(new, first=2), circle())
    assert drift is not None
    assert drift.then.actions == [2, 3, 4, 5, 0, 1]
    assert drift.now.actions == [2, 3, 4, 1, 0, 5]
    assert (drift.step, drift.then.forced) == (3, 1)
    assert drift.now.cost > drift.then.cost == pytest.approx(6 * 0.4)  # sides of a hexagon
    want = torch.zeros(6)
    want[[0, 1, 5]] = torch.tensor([0.0, 0.2, 0.5]).softmax(dim=0)
    assert torch.allclose(drift.probs(drift.then), want)
    assert drift.weight == pytest.approx(float(lco.weighting("variance")(want)), abs=1e-6)
    assert [drift.number(i) for i in (0, 3)] == [1, 4]
    assert drift.name_of(5) == "node 6\n(4 on the first map)"
    top = [(5, *drift.probs(drift.then)[[5]].tolist()), (1, *drift.probs(drift.then)[[1]].tolist())]
    assert {row[:2] for row in drift.likeliest} >= set(top)


def test_three_likeliest_actions_of_each_solver_are_listed():
    """Actions of either solver's top three, with the probability that each gave them."""
    old, new = around(), around()
    old[2] = torch.tensor([0.0, 0.0, 0.0, 3.0, 2.0, 1.0])
    new[2] = torch.tensor([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    old[0, 1] = new[0, 1] = old[1, 2] = new[1, 2] = 20.0
    drift = find(Preferring(old), Preferring(new), circle())
    assert drift is not None
    rows = drift.likeliest
    then, now = (drift.probs(course) for course in (drift.then, drift.now))
    assert {action for action, _, _ in rows} >= {int(then.argmax()), int(now.argmax())}
    assert all((a, float(then[a]), float(now[a])) == (a, p, q) for a, p, q in rows)
    assert max(rows, key=lambda row: row[1])[0] == drift.then.actions[drift.step]
    assert max(rows, key=lambda row: row[2])[0] == drift.now.actions[drift.step]
    chosen = drift.then.actions[drift.step]
    assert f"({drift.number(drift.step)} on the first map)" in drift.name_of(chosen)


def test_of_several_instances_the_least_confident_decision_counts():
    """A solver that drifts everywhere is shown where it was least sure and the result is worse."""
    generator = torch.Generator().manual_seed(0)
    nodes = torch.rand((8, 7, 2), generator=generator)
    old, new = (3 * torch.rand((7, 7), generator=generator) for _ in range(2))
    instances = TSP.instances(nodes=nodes)
    alone = [
        find(Preferring(old), Preferring(new), TSP.instances(nodes=one[None])) for one in nodes
    ]
    worse = [d for d in alone if d is not None and d.now.cost > d.then.cost]
    shared = [d for d in worse if d.step - d.then.forced >= 3] or worse
    drift = find(Preferring(old), Preferring(new), instances)
    assert drift is not None
    assert drift.weight == pytest.approx(max(d.weight for d in shared))


def test_equal_solvers_do_not_drift():
    """Where both do the same there is nothing to show."""
    assert find(Preferring(around()), Preferring(around()), circle()) is None
