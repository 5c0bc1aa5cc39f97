"""Instances in integers, their keys, costs and faults."""

import attrs
import numpy as np
import pytest
import torch
from synthetic_references import cvrp, tsp

from lifelong_co import registry
from lifelong_co.experiments.references.subject import exactly, keys_of, of_file, of_instances
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.tensors import records

TSP = registry.problem("tsp")
CVRP = registry.problem("cvrp")


def test_keys_depend_on_the_contents_of_an_instance():
    """Stable across runs and precision, different for other nodes, demands and problems."""
    nodes = torch.tensor([[[0.0, 0.0], [1.0, 0.5]]])
    one = of_instances(TSP.instances(nodes=nodes), TSP, "a")[0].key
    assert one == "d54f74be05677055cd71ed104d8d889cd4494e41842e077e8a621ee335db834f"
    assert one == of_instances(TSP.instances(nodes=nodes.double()), TSP, "b")[0].key
    assert one == of_instances(TSP.instances(nodes=nodes.neg().neg()), TSP, "b")[0].key
    assert one != of_instances(TSP.instances(nodes=nodes.flip(1)), TSP, "a")[0].key
    assert cvrp(5, capacity=20).key != cvrp(5, capacity=21).key


@attrs.frozen
class Pairs:
    """Nodes of which some belong together."""

    nodes: torch.Tensor
    partner: torch.Tensor
    fixed: torch.Tensor


def test_key_does_not_depend_on_neighbors():
    """A file of another distance in the folder gives its value to instances without one."""
    problem = registry.problem("tsp")
    nodes = torch.rand(2, 5, 2)
    plain = problem.instances(nodes=nodes)
    other = problem.instances(nodes=nodes, distance="manhattan")
    joined = keys_of(records.concatenate([plain, other]), problem)
    assert joined == keys_of(plain, problem) + keys_of(other, problem)
    assert len(set(joined)) == 4


def test_listed_distances_may_be_fractions():
    """As a plugin's travel times."""
    keys = {
        of_file(
            FileInstance("f", "atsp", np.empty((3, 0)), None, None, "EXPLICIT", weights=weights)
        ).key
        for weights in (np.full((3, 3), 0.2), np.full((3, 3), 0.9), np.full((3, 3), 0))
    }
    assert len(keys) == 3


def test_whole_numbers_and_truth_values_of_a_plugin_stay_so():
    """As a problem's cost needs them; each counts in the key, also above 2**24."""
    nodes = torch.rand(1, 3, 2, generator=torch.Generator().manual_seed(0))

    def key(partner, fixed):
        one = Pairs(nodes, torch.tensor([[partner, 0, 1]]), torch.tensor([[fixed, True, False]]))
        return keys_of(one, TSP)[0]

    assert key(2**24, True) == key(2**24, True)
    assert len({key(2**24, True), key(2**24 + 1, True), key(2**24, False)}) == 3
    exact = [exactly(tensor) for tensor in (nodes, torch.tensor([2]), torch.tensor([True]))]
    assert [tensor.dtype for tensor in exact] == [torch.float64, torch.int64, torch.bool]


def test_costs_are_in_the_units_of_the_instance():
    """A test instance by the problem's own cost, a file by its rounding rule."""
    subject = tsp(6)
    row = TSP.instances(nodes=torch.rand(1, 6, 2, generator=torch.Generator().manual_seed(0)))
    actions = torch.tensor([[[2, 0, 1, 5, 4, 3]]])
    expected = float(TSP.cost(row, actions))
    assert subject.cost(actions.flatten().tolist()) == pytest.approx(expected, rel=1e-6)
    square = np.array([[0, 0], [0, 1.6], [1.6, 1.6], [1.6, 0]])
    file = of_file(FileInstance("square", "tsp", square, None, None, "EUC_2D"))
    assert file.cost([0, 1, 2, 3]) == 8  # four sides of 1.6, each rounded to 2
    assert file.model().distances[0, 1] == 2


@pytest.mark.parametrize(
    ("actions", "fault"),
    [
        ([0, 1, 2, 0, 3, 0], ""),
        ([0, 1, 2, 3, 0], "visits node 3 in step 4, where it is not feasible"),
        ([0, 1, 2, 0], "ends before it is complete (node 3 is not visited)"),
        ([0, 1, 2, 0, 3, 3, 0], "visits node 3 2 times"),
        ([1, 2, 0, 3], "ends before it is complete"),
        ([0, 1, 2, 0, 4, 0], "expected nodes 0 to 3, got 4"),
    ],
)
def test_faults_are_reported(actions, fault):
    """Every way a solution of a test instance can fail."""
    made = CVRP.instances(
        depot=torch.zeros(1, 1, 2), nodes=torch.rand(1, 3, 2), demand=torch.full((1, 3), 0.4)
    )
    assert of_instances(made, CVRP, "V")[0].fault(actions) == fault
