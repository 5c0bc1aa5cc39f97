"""Which replayed bundles share an encoder pass."""

from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.experience_replay import replayed as replay
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle

import lifelong_co as lco
from lifelong_co.replay.experience import record


@given(
    shapes=st.lists(st.tuples(st.integers(1, 9), st.sampled_from([5, 20, 600])), max_size=12),
    whole=st.booleans(),
)
def test_groups_of_bundles_fit_one_pass(shapes: list[tuple[int, int]], whole: bool) -> None:
    """Each bundle is in one group of its size, within the limit or alone."""
    problem = lco.problem("tsp")
    bundles = []
    for B, n in shapes:
        instances = problem.instances(nodes=torch.zeros(B, n, 2))
        step = record(0, instances, problem.reset(instances, 1), torch.zeros(B, 1, n))
        bundles.append(ReplayedBundle((step,), slice(None) if whole else torch.tensor([0])))
    groups = [each.bundles for each in Replayed(tuple(bundles)).of_one_size()]
    assert Counter(id(each) for group in groups for each in group) == Counter(map(id, bundles))
    for group in groups:
        sizes = [each.steps[0].trajectories_and_actions[1] for each in group]
        assert len(set(sizes)) == 1
        tokens = sum((each.steps[0].rows if whole else 1) * sizes[0] for each in group)
        assert len(group) == 1 or tokens <= replay.CPU_TOKENS
