"""Solving instances from files: chunks and batches change no cost, and costs are the file's."""

import attrs
import numpy as np
import pytest
import torch
from command_line import MODEL
from file_strategies import file_instances
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lifelong_co import registry
from lifelong_co.errors import ConfigError, InvalidRolloutError
from lifelong_co.instance_files.file_instance import FileInstance, cost, to_instances
from lifelong_co.instance_files.solutions import check
from lifelong_co.instance_files.solve import (
    CPU_WORK,
    best_each,
    decode,
    length,
    paper_instances,
    room,
)
from lifelong_co.tensors import records

INVIT = {"dim_emb": 16, "dim_ff": 16, "nb_heads": 2, "action_k": 4, "state_k": [5, 7]}


def solver(problem, name="pomo", **options):
    """Return a small network in double precision, so that equal costs are equal."""
    torch.manual_seed(0)
    made = registry.solver(name, problem, **(INVIT if name == "invit" else MODEL), **options)
    made.module.double().eval()
    return made


def instance(problem, size=9, seed=0):
    """Return an instance of random whole coordinates and demands."""
    draw = np.random.default_rng(seed)
    A = size + (problem == "cvrp")
    demand = draw.integers(1, 9, size) if problem == "cvrp" else None
    capacity = 20 if problem == "cvrp" else None
    points = draw.integers(0, 1000, (A, 2)).astype(float)
    return FileInstance("drawn", problem, points, demand, capacity, "EUC_2D")


def double(instances):
    """Return instances in double precision."""
    return records.transform(instances, lambda tensor: tensor.double())


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("at_once", [1, 2, 4])
def test_chunks_find_the_same_solutions(problem, at_once):
    """Any number of trajectories at a time gives the same tours from the same starts."""
    network = solver(problem)
    seen = double(to_instances(instance(problem), network.problem))
    (whole,) = decode(network, seen)
    parts = list(decode(network, seen, at_once=at_once))
    assert len(parts) == -(-9 // at_once)
    joined = np.concatenate([costs for _, costs in parts], axis=1)
    np.testing.assert_allclose(joined, whole[1], rtol=1e-12)
    firsts = [tour[0 if problem == "tsp" else 1] for actions, _ in parts for tour in actions[0]]
    assert firsts == [k + (problem == "cvrp") for k in range(9)]


@pytest.mark.parametrize(
    ("name", "problem", "chunks"), [("pomo", "tsp", 24), ("pomo", "cvrp", 24), ("invit", "cvrp", 8)]
)
def test_progress_rises_to_the_whole_work(name, problem, chunks):
    """Also where one trajectory for each image is enough."""
    network, shares = solver(problem, name), []
    network.module.float()
    best_each(network, [instance(problem)], augment=True, at_once=3, progress=shares.append)
    assert shares == pytest.approx([(k + 1) / chunks for k in range(chunks)])
    assert shares[-1] == 1


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("trajectories", [1, 4, 11])
@pytest.mark.parametrize("at_once", [3, None])
def test_trajectories_start_at_the_first_nodes(problem, trajectories, at_once):
    """They begin again at the first node if there are more trajectories than nodes."""
    network = solver(problem)
    seen = double(to_instances(instance(problem), network.problem))
    found = decode(network, seen, trajectories=trajectories, at_once=at_once)
    firsts = [tour[0 if problem == "tsp" else 1] for actions, _ in found for tour in actions[0]]
    assert firsts == [k % 9 + (problem == "cvrp") for k in range(trajectories)]


@pytest.mark.parametrize(("problem", "decoded"), [("tsp", 9), ("cvrp", 1)])
def test_solver_without_forced_starts_decodes_once(problem, decoded):
    """INViT's solutions of a CVRP all begin at the depot, so they are one."""
    network = solver(problem, "invit")
    seen = double(to_instances(instance(problem), network.problem))
    found = list(decode(network, seen, augment=True, at_once=4))
    assert sum(actions.shape[1] for actions, _ in found) == 8 * decoded


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_best_solution_is_feasible_and_measured_in_file_units(problem):
    """Its cost is the file's, its length is not rounded; images can only improve it."""
    network = solver(problem)
    network.module.float()
    one = instance(problem)
    (plain,) = best_each(network, [one], at_once=4)
    assert check(one, plain.actions).cost == plain.cost
    assert abs(plain.length - plain.cost) <= len(plain.actions)
    assert best_each(network, [one], augment=True)[0].cost <= plain.cost


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("name", ["pomo", "omni", "invit"])
@pytest.mark.parametrize("at_once", [None, 7])
def test_batch_gives_the_costs_of_single_instances(problem, name, at_once):
    """Every trajectory of every image costs the same, with any other instances in the batch."""
    network = solver(problem, name)
    each = [
        double(to_instances(instance(problem, seed=seed), network.problem)) for seed in range(3)
    ]
    together = decode(network, records.concatenate(each), augment=True, at_once=at_once)
    costs = np.concatenate([costs for _, costs in together], axis=1)
    starts = 1 if (name, problem) == ("invit", "cvrp") else 9
    assert costs.shape == (3, 8 * starts)
    for b, one in enumerate(each):
        alone = np.concatenate([costs[0] for _, costs in decode(network, one, augment=True)])
        np.testing.assert_allclose(costs[b], alone, rtol=1e-12)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_best_solutions_of_a_batch_are_those_of_single_instances(problem):
    """They are feasible and in the order of the instances."""
    network = solver(problem)
    network.module.float()
    several = [instance(problem, seed=seed) for seed in range(4)]
    found = best_each(network, several)
    for one, its in zip(several, found, strict=True):
        (alone,) = best_each(network, [one])
        assert (its.cost, its.length) == (alone.cost, alone.length)
        assert check(one, its.actions).cost == its.cost
    with pytest.raises(ConfigError, match=r"one size in a batch, got \[8, 9\]"):
        best_each(network, [instance(problem, 8), instance(problem, 9)])


@given(st.integers(2, 1100), st.none() | st.integers(1, 5000))
@settings(max_examples=30)
def test_batch_stays_within_the_memory_bound(size, at_once):
    """All trajectories of a batch fit; instances of 1,001 nodes are solved one at a time."""
    network = solver("tsp")
    count = room(network, size, at_once)
    bound = at_once or CPU_WORK / (size + 1)
    assert count == 1 or count * size <= bound < (count + 1) * size
    assert room(network, 1001) == 1


@pytest.mark.parametrize(("norm", "alone"), [("batch", False), ("batch_no_track", True)])
def test_solver_that_normalises_over_the_batch_solves_one_instance_at_a_time(norm, alone):
    """With other instances in the batch, Omni's published weights give other costs."""
    assert (room(solver("tsp", "omni", norm=norm), 9) == 1) is alone


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_best_cost_and_length_are_the_least_of_all_solutions(problem):
    """On a small map, rounding puts solutions in another order: two can be the best ones."""
    network = solver(problem)
    network.module.float()
    differ = 0
    for seed in range(20):
        one = instance(problem, 20, seed)
        one = attrs.evolve(one, coordinates=one.coordinates / 700)
        (found,) = best_each(network, [one])
        ((actions, _),) = decode(network, to_instances(one, network.problem))
        assert found.cost == min(cost(one, each) for each in actions[0])
        assert found.length == min(length(one, each) for each in actions[0])
        assert cost(one, found.actions) == found.cost
        differ += found.length < length(one, found.actions)
    assert differ


@given(st.sampled_from(["tsp", "cvrp"]).flatmap(file_instances))
@example(attrs.evolve(instance("tsp"), coordinates=1000 + instance("tsp").coordinates))
@example(attrs.evolve(instance("cvrp"), coordinates=1000 + instance("cvrp").coordinates))
@settings(max_examples=20)
def test_scaling_of_the_paper_divides_by_the_greatest_coordinate(one):
    """As in the official code, there is no shift and one divisor for both axes."""
    most = one.coordinates.max()
    if most < 1:
        return
    seen = paper_instances(one, registry.problem(one.problem))
    depot = [seen.depot] if one.problem == "cvrp" else []
    places = torch.cat((*depot, seen.nodes), dim=1)[0].double().numpy()
    np.testing.assert_allclose(places, one.coordinates / most, rtol=0, atol=1e-6)


def test_length_is_not_rounded():
    """A square of side 1.6 has length 6.4, and cost 8 in rounded distances."""
    square = np.array([[0, 0], [0, 1.6], [1.6, 1.6], [1.6, 0]])
    one = FileInstance("square", "tsp", square, None, None, "EUC_2D")
    assert length(one, np.arange(4)) == pytest.approx(6.4)
    assert check(one, [0, 1, 2, 3]).cost == 8


def test_of_equal_costs_the_shortest_solution_counts():
    """In a town of less than half a unit all distances are rounded to 0."""
    town = instance("cvrp")
    points = 0.4 * town.coordinates / town.coordinates.max()
    small = attrs.evolve(town, coordinates=points, distance_rule="EUC_2D")
    exact = attrs.evolve(small, distance_rule="UNROUNDED")
    network = solver("cvrp")
    network.module.float()
    for at_once in (1, None):
        (one,), (two,) = (
            best_each(network, [each], augment=True, at_once=at_once) for each in (small, exact)
        )
        assert one.cost == 0
        assert length(small, one.actions) == pytest.approx(two.cost, rel=1e-5)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("name", ["pomo", "invit"])
def test_infeasible_solutions_are_refused(problem, name):
    """A network with NaN parameters takes infeasible actions."""
    network = solver(problem, name)
    network.module.float()
    for parameter in network.module.parameters():
        torch.nn.init.constant_(parameter, torch.nan)
    with pytest.raises(InvalidRolloutError, match="instance 1 of 1"):
        best_each(network, [instance(problem)], at_once=4)
