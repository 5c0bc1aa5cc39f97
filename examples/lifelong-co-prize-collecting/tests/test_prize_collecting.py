"""The installed plugin adds the prize-collecting TSP to lifelong-co."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.instance_files.pool import load_instances
from lifelong_co.reference_solvers import Settings
from lifelong_co.rollout.verification import fault
from lifelong_co.tensors import records
from lifelong_co.testing import check_distribution, check_problem, check_solver

NAME = "prize-collecting-tsp"
TINY = {"embedding_dim": 16, "encoder_layer_num": 1, "ff_hidden_dim": 16}
TASKS = """
epochs = 1
batches = 2
batch_size = 4
tasks = [{distribution = "U", size = 5}, {distribution = "GM", size = 6}]
"""


def drawn(batch, size, distribution="U", dtype=torch.float64):
    """Return instances, the same on every call."""
    stream = torch.Generator().manual_seed(0)
    found = lco.distribution(distribution, NAME).sample(batch, size, generator=stream)
    return records.transform(found, lambda tensor: tensor.to(dtype))


def test_problem_fulfils_its_contract():
    """Shapes, masks, ends, costs and images are right on random solutions."""
    check_problem(lco.problem(NAME))


@pytest.mark.parametrize("solver", ["pomo", "omni"])
def test_solvers_fulfil_the_contract_on_it(solver):
    """Probabilities, replay, solutions and gradients are right."""
    check_solver(lco.solver(solver, NAME, **TINY), size=6)


def test_invit_fulfils_the_contract_on_it():
    """Two features of a node besides coordinates, one scalar of the state."""
    sizes = {"dim_emb": 8, "dim_ff": 8, "nb_heads": 2, "action_k": 3, "state_k": [4, 6]}
    check_solver(lco.solver("invit", NAME, **sizes), size=6)


@pytest.mark.parametrize("distribution", ["U", "GM", "E", "C", "G", "R"])
def test_every_distribution_draws_it(distribution):
    """Coordinates come from the distribution, prizes and penalties from the sampler."""
    check_distribution(lco.distribution(distribution, NAME), lco.problem(NAME))
    instances = drawn(50, 20, distribution)
    assert instances.prize.mean().item() == pytest.approx(2 / 20, rel=0.1)
    assert 0 <= instances.penalty.min() <= instances.penalty.max() <= 6 / 20


def test_cost_is_length_and_penalties():
    """A square of side 1 with a penalty of 5 for the node left out."""
    problem = lco.problem(NAME)
    instances = problem.instances(
        depot=torch.zeros(1, 1, 2),
        nodes=torch.tensor([[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]]),
        prize=torch.full((1, 3), 0.5),
        penalty=torch.tensor([[5.0, 6.0, 7.0]]),
    )
    cost = problem.cost(instances, torch.tensor([[[1, 2, 3, 0], [2, 3, 0, 0]]]))
    torch.testing.assert_close(cost, torch.tensor([[4.0, 2 + 2**0.5 + 5]]))
    assert fault(problem, instances, [2, 3, 0]) == ""
    assert fault(problem, instances, [2, 0]) == "visits node 0 in step 2, where it is not feasible"


def test_files_in_metres_have_the_penalties_of_the_unit_square(tmp_path):
    """A penalty is a length, so it is scaled with the coordinates."""
    instances = drawn(3, 5)
    fields = {name: tensor.numpy() for name, tensor in records.tensors(instances).items()}
    metres = {name: fields[name] * 1000 for name in ("depot", "nodes", "penalty")}
    loaded = []
    for name, content in (("unit", fields), ("metres", {**fields, **metres})):
        np.savez(tmp_path / f"{name}.npz", **content)
        loaded += load_instances(tmp_path / f"{name}.npz", lco.problem(NAME), scale=True)
    for one, other in zip(*(records.tensors(each).values() for each in loaded), strict=True):
        torch.testing.assert_close(one, other)


def test_reference_is_the_best_of_all_tours():
    """OR-Tools proves what trying all tours finds."""
    pytest.importorskip("ortools")
    problem, instances = lco.problem(NAME), drawn(5, 4)
    for b in range(5):
        row = records.select(instances, slice(b, b + 1))
        tours = (
            [*order, 0] for r in range(1, 5) for order in itertools.permutations(range(1, 5), r)
        )
        best = min(cost(problem, row, tour) for tour in tours if not fault(problem, row, tour))
        found = registry.reference_model(NAME)(row).solve(Settings(seconds=20))
        assert found.proven
        assert fault(problem, row, found.actions) == ""
        assert cost(problem, row, found.actions) == pytest.approx(best, abs=1e-5)


def test_prizes_of_exactly_one_are_enough():
    """Four of twelve nodes on a line give the prize of 1; those near the depot are the best."""
    pytest.importorskip("ortools")
    places = torch.linspace(0.0, 0.9, 13)
    points = torch.stack((places, torch.zeros(13)), dim=1)[None]
    row = lco.problem(NAME).instances(
        depot=points[:, :1],
        nodes=points[:, 1:],
        prize=torch.full((1, 12), 0.25),
        penalty=torch.zeros(1, 12),
    )
    found = registry.reference_model(NAME)(row).solve(Settings(seconds=20))
    assert found.proven
    assert sorted(found.actions) == [0, 1, 2, 3, 4]


def cost(problem, row, tour):
    """Return the cost of one tour."""
    return problem.cost(row, torch.tensor(tour).view(1, 1, -1)).item()


def test_run_under_llr_bc_and_its_references(tmp_path):
    """Two tasks are learned, and the solver's costs get a gap to proven references."""
    pytest.importorskip("ortools")
    (tmp_path / "tasks.toml").write_text(TASKS)
    model = [f"--solver-option={name}={value}" for name, value in TINY.items()]
    few = ("--tests=3", "--device=cpu", "--out=run")
    command(tmp_path, "run", f"--problem={NAME}", "--tasks=tasks.toml", *model, *few)
    # Two processes: the model travels to them.
    found = command(tmp_path, "reference", "--run=run", "--jobs=2")
    assert "6 solved now, 6 proven optimal" in found
    shown = command(tmp_path, "evaluate", "run", "--device=cpu")
    assert shown.count(" gap ") == 2


def command(folder, *words):
    """Run a command in a folder and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "lifelong_co_cli.main", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
