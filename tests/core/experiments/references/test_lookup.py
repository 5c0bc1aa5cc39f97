"""References of test instances, from several folders."""

import numpy as np
import pytest
import torch
from synthetic_references import find, published, squares

from lifelong_co import registry
from lifelong_co.experiments.references import gaps, lookup
from lifelong_co.experiments.references.cache import Cache

TSP = registry.problem("tsp")


@pytest.mark.usefixtures("solved")
def test_published_costs_are_read_unchanged(tmp_path):
    """Stored costs fill in for instances without a reference of our own."""
    made = published(tmp_path, [4.1, 2.2, 1.5])
    known = lookup.references([tmp_path], TSP, made, "U")
    assert [each.cost for each in known] == [4.1, 2.2, 1.5]
    assert lookup.references([tmp_path], TSP, made, "GM") == [None] * 3
    find(Cache(tmp_path), 1)
    known = lookup.references([tmp_path], TSP, made, "U")
    assert [each.cost for each in known] == pytest.approx([4.0, 2.2, 1.5])
    assert gaps.mean_reference(known) == pytest.approx(7.7 / 3)
    part = lookup.references([tmp_path], TSP, made, "R")
    assert [each is None for each in part] == [False, True, True]
    assert gaps.mean_reference(part) is None
    assert gaps.mean_reference([]) is None


def test_sets_of_several_sizes_are_all_read(tmp_path):
    """A folder has a file for each size of a distribution."""
    published(tmp_path, [4.1])
    made = TSP.instances(nodes=torch.rand(1, 12, 2))
    np.savez(tmp_path / "tsp-U12.npz", nodes=made.nodes.numpy(), reference_cost=np.array([9.5]))
    for instances, cost in ((squares(1), 4.1), (made, 9.5)):
        (known,) = lookup.references([tmp_path], TSP, instances, "U")
        assert known.cost == cost


@pytest.mark.usefixtures("solved")
def test_the_first_folder_that_has_a_reference_counts(tmp_path):
    """A folder further on fills in for what the ones before it lack, and is named."""
    own, one, other = (tmp_path / name for name in ("own", "one", "other"))
    for folder in (one, other):
        folder.mkdir()
    published(one, [4.1, 2.2])
    made = published(other, [9.0, 9.0, 1.5])
    find(Cache(own), 1)
    known = lookup.references([own, one, other], TSP, made, "U")
    assert [(round(each.cost, 6), each.place) for each in known] == [
        (4.0, own),
        (2.2, one),
        (1.5, other),
    ]
    assert lookup.origins([None, *known[:2], known[0]]) == (own, one)
