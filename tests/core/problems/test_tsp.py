"""The TSP by hand: a square, its tour and its states."""

import pytest
import torch

from lifelong_co.problems.tsp import TSP

SQUARE = torch.tensor([[[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]])


def test_tour_of_a_square_by_hand() -> None:
    """Around the square the cost is 4, across both diagonals 2 + 2 sqrt(2)."""
    problem = TSP()
    batch = problem.instances(nodes=SQUARE)
    actions = torch.tensor([[[0, 1, 2, 3], [0, 2, 1, 3]]])
    assert problem.cost(batch, actions)[0].tolist() == pytest.approx([4, 2 + 2 * 2**0.5])
    assert problem.size(batch) == 4
    assert problem.steps(4) == (4, 4)


def test_states_of_a_tour_by_hand() -> None:
    """The first node stays first, visited nodes are infeasible, and the last visit ends it."""
    problem = TSP()
    batch = problem.instances(nodes=SQUARE)
    state = problem.reset(batch, 1)
    context = problem.context(state)
    assert context.nowhere is not None
    assert bool(context.nowhere.all())
    for number, node in enumerate((2, 0, 3, 1)):
        assert not bool(problem.done(batch, state).any())
        state = problem.step(batch, state, torch.tensor([[node]]))
        assert (int(state.first), int(state.current)) == (2, node)
        assert int(problem.feasible(batch, state).sum()) == 3 - number
        assert torch.equal(problem.strictly_feasible(batch, state), problem.unfinished(state))
    assert bool(problem.done(batch, state).all())
