"""CP-SAT, compared with trying all tours."""

import itertools

import numpy as np
import pytest
from synthetic_references import tsp

from lifelong_co.errors import ConfigError
from lifelong_co.problems.reference_models import length
from lifelong_co.reference_solvers.exact import shortest_circuit


def shortest(distances):
    """Return the length of the shortest tour by trying all."""
    rest = range(1, len(distances))
    return min(length(distances, [0, *order]) for order in itertools.permutations(rest))


@pytest.mark.parametrize("size", [3, 4, 7])
def test_proven_circuits_are_the_shortest(size):
    """CP-SAT finds what trying all tours finds, from a bad hint, and says that it is proven."""
    pytest.importorskip("ortools")
    distances = tsp(size).model().distances
    found = shortest_circuit(arcs(distances), list(range(size)), seconds=20)
    assert found.proven
    assert sorted(found.actions) == list(range(size))
    assert length(distances, found.actions) == shortest(distances)


def test_node_is_left_out_where_its_loop_is_cheaper():
    """An arc from a node to itself lets the circuit pass by the node."""
    pytest.importorskip("ortools")
    distances = np.array([[0, 1, 50], [1, 0, 50], [50, 50, 0]])
    found = shortest_circuit(arcs(distances) | {(2, 2): 7}, [0, 1, 2], seconds=20)
    assert (found.actions, found.proven) == ([0, 1], True)
    dear = shortest_circuit(arcs(distances) | {(2, 2): 700}, [0, 1], seconds=20)
    assert sorted(dear.actions) == [0, 1, 2]


def test_further_constraints_are_kept():
    """A function adds constraints on the arcs."""
    pytest.importorskip("ortools")
    distances = np.array([[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]])

    def constrain(model, variables):
        model.add(variables[0, 1] == 0)

    found = shortest_circuit(arcs(distances), [0, 2, 1, 3], seconds=20, constrain=constrain)
    assert length(distances, found.actions) > length(distances, [0, 1, 2, 3])
    assert found.actions[1] != 1


def arcs(distances):
    """Return the cost of every arc between two nodes."""
    n = len(distances)
    return {(i, j): int(distances[i, j]) for i in range(n) for j in range(n) if i != j}


@pytest.mark.parametrize("cost", [0.5, np.float64(1.5), np.nan, np.inf, "2", None])
def test_cost_that_is_not_whole_is_refused(cost):
    """It would be cut off, and the proof be one of other costs."""
    pytest.importorskip("ortools")
    with pytest.raises(ConfigError, match=r"cost of arc \(1, 0\): expected a whole number"):
        shortest_circuit({(0, 1): 1, (1, 0): cost}, [0, 1], seconds=1)
