"""CP-SAT, compared with trying all tours."""

import itertools

import pytest
from synthetic_references import tsp

from lifelong_co.experiments.references.exact import shortest_tour
from lifelong_co.experiments.references.solvers import length


def shortest(distances):
    """Return the length of the shortest tour by trying all."""
    rest = range(1, len(distances))
    return min(length(distances, [0, *order]) for order in itertools.permutations(rest))


@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_proven_tours_are_the_shortest(size):
    """CP-SAT finds what trying all tours finds, from a bad hint, and says that it is proven."""
    pytest.importorskip("ortools")
    distances = tsp(size).model().distances
    found = shortest_tour(distances, list(range(size)), seconds=20)
    assert found.proven
    assert sorted(found.actions) == list(range(size))
    assert length(distances, found.actions) == shortest(distances)
