"""The asymmetric TSP: costs by a matrix, and solvers with and without features of it."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import walk

import lifelong_co as lco
from lifelong_co.errors import ConfigError, InvalidInstancesError
from lifelong_co.problems.atsp import ATSP
from lifelong_co.problems.atsp_sampler import matrices
from lifelong_co.problems.tsp import TSP


def embedded(matrix: torch.Tensor) -> torch.Tensor:
    """Return two features of each node: the mean distance from it and to it, ``[B, n, 2]``."""
    return torch.stack((matrix.mean(dim=2), matrix.mean(dim=1)), dim=2)


@given(st.integers(1, 3), st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_random_tours_visit_every_node_at_the_cost_of_their_arcs(
    B: int,
    n: int,
    seed: int,
) -> None:
    """Feasible actions make a tour of ``n`` steps; its cost follows the direction of travel."""
    stream = torch.Generator().manual_seed(seed)
    batch = ATSP().instances(matrix=matrices(B, n, generator=stream))
    found = walk(ATSP(), batch, 3, 1, stream)
    cost = ATSP().cost(batch, found.actions)
    for b in range(B):
        for s, tour in enumerate(found.actions[b].tolist()):
            assert sorted(tour) == list(range(n))
            arcs = [float(batch.matrix[b, i, j]) for i, j in pairwise([*tour, tour[0]])]
            assert float(cost[b, s]) == pytest.approx(sum(arcs), abs=1e-5)


def test_symmetric_matrix_has_the_costs_of_the_tsp() -> None:
    """With Euclidean distances, tours cost the same as in the TSP."""
    nodes = torch.rand(4, 8, 2, dtype=torch.float64)
    batch = ATSP().instances(matrix=torch.cdist(nodes, nodes))
    actions = torch.rand(4, 5, 8).argsort(dim=2)
    expected = TSP().cost(TSP().instances(nodes=nodes), actions)
    torch.testing.assert_close(ATSP().cost(batch, actions), expected)


def test_diagonal_is_set_to_0() -> None:
    """A file may have any number there."""
    batch = ATSP().instances(matrix=torch.full((1, 3, 3), 9.0))
    assert batch.matrix.diagonal(dim1=1, dim2=2).tolist() == [[0.0] * 3]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (torch.rand(2, 3, 4), r"matrix: expected \[B, n, n\] with n at least 2, got \[2, 3, 4\]"),
        (torch.rand(2, 1, 1), r"matrix: expected \[B, n, n\]"),
        (torch.rand(3, 3), r"matrix: expected shape \[B, n, n\]"),
        (torch.rand(1, 3, 3) - 1, "matrix: expected distances of at least 0"),
        (torch.full((1, 3, 3), torch.nan), "matrix: expected finite numbers"),
        (torch.ones(1, 3, 3, dtype=torch.long), "matrix: expected fractions"),
    ],
)
def test_wrong_matrices_are_refused(matrix: torch.Tensor, message: str) -> None:
    """The error says what is expected."""
    with pytest.raises(InvalidInstancesError, match=f"^{message}"):
        ATSP().instances(matrix=matrix)


def test_images_are_equal() -> None:
    """The eight images have the distances of their instance."""
    batch = ATSP().instances(matrix=matrices(2, 5))
    assert torch.equal(ATSP().augment(batch).matrix, batch.matrix.repeat(8, 1, 1))


@pytest.mark.parametrize("solver", ["pomo", "omni"])
def test_solvers_of_features_refuse_it_with_a_reason(solver: str) -> None:
    """A network that needs features of nodes is not built."""
    with pytest.raises(ConfigError, match="features"):
        lco.solver(solver, problem="atsp")


def test_solver_with_features_of_the_matrix_solves_it() -> None:
    """POMO learns from features that the problem makes of the matrix."""
    from lifelong_co_adapters.pomo.solver import pomo

    problem: Any = ATSP(embed=embedded, width=2)
    solver = pomo(problem, embedding_dim=16, head_num=2, qkv_dim=8, encoder_layer_num=1)
    batch = problem.instances(matrix=matrices(4, 6))
    rollout = solver.rollout(batch, "sample", generator=torch.Generator().manual_seed(0))
    loss = solver.objective().loss(batch, rollout)
    loss.backward()
    assert rollout.actions.sort(dim=2).values.unique().tolist() == list(range(6))
    assert all(p.grad is not None for p in solver.module.parameters())


def test_features_without_an_embedding_are_refused() -> None:
    """The message says how to get features."""
    with pytest.raises(ConfigError, match=r"ATSP\(embed, width\)"):
        ATSP().features(ATSP().instances(matrix=matrices(1, 3)))
