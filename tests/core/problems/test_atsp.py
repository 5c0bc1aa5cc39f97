"""The asymmetric TSP: costs by a matrix, and solvers with and without features of it."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import identical, walk
from tiny_runs import tiny_config, tiny_learn
from torch import nn

import lifelong_co as lco
from lifelong_co.errors import ConfigError, InvalidInstancesError
from lifelong_co.problems.atsp import ATSP
from lifelong_co.problems.atsp_sampler import matrices
from lifelong_co.problems.distances import measured
from lifelong_co.problems.tsp import TSP
from lifelong_co.reinforce import shared_baseline
from lifelong_co.replay.experience import record
from lifelong_co.rollout.decoding import multi_start
from lifelong_co.tasks.task import Task
from lifelong_co.testing import check_distribution, check_problem


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


def test_cost_of_actions_in_any_order_in_memory() -> None:
    """A plugin may return transposed actions."""
    batch = ATSP().instances(matrix=matrices(2, 5))
    actions = torch.rand(2, 3, 5).argsort(dim=2)
    turned = actions.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    assert torch.equal(ATSP().cost(batch, turned), ATSP().cost(batch, actions))


def test_actions_of_fewer_instances_are_refused() -> None:
    """They would be the costs of the first instances only."""
    batch = ATSP().instances(matrix=matrices(3, 4))
    with pytest.raises(
        InvalidInstancesError, match=r"actions: expected 3 rows, one for each instance, got 1$"
    ):
        ATSP().cost(batch, torch.arange(4).expand(1, 1, 4))


def test_symmetric_matrix_has_the_costs_of_the_tsp() -> None:
    """With Euclidean distances, tours cost the same as in the TSP."""
    nodes = torch.rand(4, 8, 2, dtype=torch.float64)
    batch = ATSP().instances(matrix=torch.cdist(nodes, nodes))
    actions = torch.rand(4, 5, 8).argsort(dim=2)
    expected = TSP().cost(TSP().instances(nodes=nodes), actions)
    torch.testing.assert_close(ATSP().cost(batch, actions), expected)


def test_diagonal_is_set_to_0() -> None:
    """A file may have any number there."""
    for there in (9.0, -1.0, torch.inf, torch.nan):
        matrix = torch.ones(1, 3, 3)
        matrix.diagonal(dim1=1, dim2=2).fill_(there)
        batch = ATSP().instances(matrix=matrix)
        assert batch.matrix.diagonal(dim1=1, dim2=2).tolist() == [[0.0] * 3]
        assert batch.matrix.sum() == 6


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (torch.rand(2, 3, 4), r"matrix: expected \[B, n, n\] with n at least 2, got \[2, 3, 4\]"),
        (torch.rand(2, 1, 1), r"matrix: expected \[B, n, n\]"),
        (torch.rand(3, 3), r"matrix: expected shape \[B, n, n\]"),
        (torch.rand(1, 3, 3) - 1, "matrix: expected distances of at least 0"),
        (torch.full((1, 3, 3), torch.nan), "matrix: expected finite numbers"),
        (torch.ones(1, 3, 3, dtype=torch.long), "matrix: expected floating-point numbers, got"),
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


@pytest.mark.parametrize("solver", ["pomo", "omni", "invit"])
def test_solvers_of_features_refuse_it_with_a_reason(solver: str) -> None:
    """A network that needs features of nodes is not built."""
    with pytest.raises(ConfigError, match=r"features|coordinates"):
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


@pytest.mark.parametrize("problem", [ATSP(), ATSP(embed=embedded, width=2)])
def test_it_passes_the_checks_of_problems_and_distributions(problem: Any) -> None:
    """`check_problem` and `check_distribution` pass, with features and without."""
    check_problem(problem, instances=problem.instances(matrix=matrices(3, 6)))
    check_distribution(lco.distribution("tmat", problem=problem), problem)


def test_features_without_an_embedding_are_refused() -> None:
    """The message says how to get features."""
    with pytest.raises(ConfigError, match=r"ATSP\(embed, width\)"):
        ATSP().features(ATSP().instances(matrix=matrices(1, 3)))


def test_experiences_need_no_coordinates() -> None:
    """A state of the ATSP comes back from the buffer, with the behavior in the instances' type."""
    batch = ATSP().instances(matrix=matrices(2, 4))
    found = walk(ATSP(), batch, 3, 1, torch.Generator().manual_seed(0))
    behavior = torch.where(found.masks[2], -0.5, -torch.inf)
    packed = record(0, batch, found.states[2], behavior)
    assert identical(packed.state(), found.states[2])
    assert torch.equal(packed.log_probs(), behavior)


def test_only_its_matrix_measures_it() -> None:
    """A task of the ATSP has no other distance than that of the matrix."""
    batch = ATSP().instances(matrix=matrices(2, 4))
    assert measured(batch, "euclidean") is batch
    with pytest.raises(ConfigError, match="distance: expected 'euclidean'"):
        measured(batch, "manhattan")


class Reader(nn.Module):
    """Scores a next node by its distance there: a policy with one parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(1.0))


@attrs.frozen(eq=False)
class ReadingSolver:
    """A solver that reads the matrix of the instances, without features."""

    problem: Any
    module: Reader = attrs.field(factory=Reader)

    def encode(self, instances: Any) -> Any:
        """Return the instances."""
        return instances

    def log_probs(self, encoding: Any, state: Any) -> torch.Tensor:
        """Return log-probabilities ``[B, S, A]``: nearer nodes are likelier."""
        last = self.problem.context(state).nodes["last"]
        rows = encoding.matrix.gather(1, last[..., None].expand(-1, -1, encoding.matrix.shape[2]))
        scores = -self.module.slope * rows
        feasible = self.problem.feasible(encoding, state)
        return scores.masked_fill(~feasible, -torch.inf).log_softmax(dim=2)

    def rollout(self, instances: Any, decode: Any = "greedy", **options: Any) -> Any:
        """Solve with one trajectory from every node."""
        return multi_start(self, instances, decode, **options)

    def objective(self) -> Any:
        """Return REINFORCE with the shared baseline."""
        return shared_baseline()

    def load_official(self, state_dict: Any) -> None:
        """Load nothing: no official code has it."""


@pytest.mark.usefixtures("fresh_registry")
def test_solver_that_reads_the_matrix_learns_it(tmp_path: Path, plugin: Any) -> None:
    """A run on the distribution of the ATSP under llr-bc; the slope grows, and costs fall."""
    lco.register_plugin(plugin("register_solvers", "reading", ReadingSolver))
    task = Task(distribution="tmat", size=6, epochs=2, batches=4, batch_size=8)
    config = attrs.evolve(
        tiny_config("llr-bc", "atsp"),
        solver="reading",
        solver_options={},
        learning_rate=0.5,
        tests=16,
        tasks=(task, attrs.evolve(task, size=8)),
    )
    run = tiny_learn(config, tmp_path)
    assert float(run.learner.solver.module.slope.detach()) > 2
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["tasks"] == ["tmat6", "tmat8"]
    assert metrics["costs"][1][0] > 0
