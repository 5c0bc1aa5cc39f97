"""Both problems on random walks over feasible actions, compared with independent checks."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import PROBLEMS, UNIT, identical, walks

from lifelong_co.tensors import records

both = pytest.mark.parametrize("name", sorted(PROBLEMS))


def check_tour(n: int, actions: list[int]) -> None:
    """Check a TSP tour: every node exactly once."""
    assert sorted(actions) == list(range(n))


def check_routes(demand: list[int], actions: list[int]) -> None:
    """Check CVRP routes: every customer once, no load above UNIT, the depot at both ends.

    Parameters
    ----------
    demand
        Of customers ``1 … n``, in units of ``1 / UNIT`` of the capacity.
    actions
        Nodes visited, 0 the depot.
    """
    assert actions[0] == 0
    assert actions[-1] == 0
    customers = [action for action in actions if action != 0]
    assert sorted(customers) == list(range(1, len(demand) + 1))
    load = 0
    for action in actions:
        load = 0 if action == 0 else load + demand[action - 1]
        assert load <= UNIT


@both
@given(data=st.data())
def test_random_feasible_actions_make_a_valid_solution(name: str, data: st.DataObject) -> None:
    """Any sequence of feasible actions ends in a valid solution within `steps`."""
    walk = data.draw(walks(name))
    n = walk.problem.size(walk.instances)
    least, most = walk.problem.steps(n)
    assert bool(walk.problem.done(walk.instances, walk.states[-1]).all())
    assert least <= walk.actions.shape[2] <= most
    for b in range(walk.actions.shape[0]):
        for actions in walk.actions[b].tolist():
            if name == "tsp":
                check_tour(n, actions)
            else:
                demand = (walk.instances.demand[b] * UNIT).round().long().tolist()
                check_routes(demand, actions)


@both
@given(data=st.data())
def test_masks_are_boolean_and_never_empty_before_the_end(name: str, data: st.DataObject) -> None:
    """A mask is bool [B, S, A]; a trajectory that is not done always has a feasible action."""
    walk = data.draw(walks(name))
    B, S, _ = walk.actions.shape
    A = walk.problem.size(walk.instances) + (name == "cvrp")
    for state, mask in zip(walk.states, walk.masks, strict=True):
        assert mask.dtype == torch.bool
        assert mask.shape == (B, S, A)
        done = walk.problem.done(walk.instances, state)
        assert done.dtype == torch.bool
        assert done.shape == (B, S)
        assert bool((mask.any(dim=2) | done).all())


@both
@given(data=st.data())
def test_mask_equals_the_rules_of_the_problem(name: str, data: st.DataObject) -> None:
    """Feasible are unvisited nodes that fit, and the depot if the vehicle is away or done."""
    walk = data.draw(walks(name))
    n = walk.problem.size(walk.instances)
    for b in range(walk.actions.shape[0]):
        for s in range(walk.actions.shape[1]):
            for t, mask in enumerate(walk.masks):
                past = walk.actions[b, s, :t].tolist()
                if name == "tsp":
                    allowed = set(range(n)) - set(past)
                else:
                    demand = (walk.instances.demand[b] * UNIT).round().long().tolist()
                    allowed = allowed_cvrp(demand, past)
                assert set(mask[b, s].nonzero().flatten().tolist()) == allowed


def allowed_cvrp(demand: list[int], past: list[int]) -> set[int]:
    """Return the feasible actions after ``past`` by the rules of the problem."""
    load = 0
    for action in past:
        load = 0 if action == 0 else load + demand[action - 1]
    rest = set(range(1, len(demand) + 1)) - set(past)
    allowed = {customer for customer in rest if load + demand[customer - 1] <= UNIT}
    at_depot = not past or past[-1] == 0
    return allowed if at_depot and rest else allowed | {0}


@both
@given(data=st.data())
def test_instances_of_a_batch_are_independent(name: str, data: st.DataObject) -> None:
    """A permutation of the batch permutes states, masks and costs, bit for bit."""
    walk = data.draw(walks(name))
    B, S, T = walk.actions.shape
    order = torch.tensor(data.draw(st.permutations(range(B))))
    batch, actions = records.select(walk.instances, order), walk.actions[order]
    state = walk.problem.reset(batch, S)
    for t in range(T):
        assert torch.equal(walk.problem.feasible(batch, state), walk.masks[t][order])
        state = walk.problem.step(batch, state, actions[..., t])
    assert identical(state, records.select(walk.states[-1], order))
    cost = walk.problem.cost(walk.instances, walk.actions)
    assert torch.equal(walk.problem.cost(batch, actions), cost[order])


@both
@given(data=st.data())
def test_step_does_not_change_its_input_state(name: str, data: st.DataObject) -> None:
    """Two steps from the same state give the same result."""
    walk = data.draw(walks(name))
    state = walk.problem.reset(walk.instances, walk.actions.shape[1])
    for t, before in enumerate(walk.states[:-1]):
        assert identical(state, before)
        state = walk.problem.step(walk.instances, before, walk.actions[..., t])
    assert identical(state, walk.states[-1])


@both
@given(data=st.data())
def test_features_cover_actions_and_context_indices_are_valid(
    name: str, data: st.DataObject
) -> None:
    """Features join to all A actions, and a context has the declared roles with valid indices."""
    walk = data.draw(walks(name))
    problem = walk.problem
    B, S, _ = walk.actions.shape
    features = problem.features(walk.instances)
    assert {kind: tensor.shape[2] for kind, tensor in features.items()} == problem.feature_dims
    assert sum(tensor.shape[1] for tensor in features.values()) == walk.masks[0].shape[2]
    for t, state in enumerate(walk.states):
        context = problem.context(state)
        assert tuple(context.nodes) == problem.context_nodes
        for node in context.nodes.values():
            assert node.shape == (B, S)
            assert 0 <= int(node.min()) <= int(node.max()) < walk.masks[0].shape[2]
        width = 0 if context.scalars is None else context.scalars.shape[2]
        assert width == problem.context_scalars
        if t > 0:
            assert torch.equal(context.nodes["last"], walk.actions[..., t - 1])
            if "first" in context.nodes:
                assert torch.equal(context.nodes["first"], walk.actions[..., 0])
        if context.nowhere is not None:
            assert bool((context.nowhere == (t == 0)).all())


@both
@pytest.mark.parametrize("trajectories", [1, 3, 7])
def test_forced_starts_are_feasible_and_cycle_over_the_nodes(name: str, trajectories: int) -> None:
    """The forced first actions are feasible and start trajectory s at node s modulo n."""
    problem, n = PROBLEMS[name], 3
    fields = {"nodes": torch.rand(2, n, 2)}
    if name == "cvrp":
        fields |= {"depot": torch.rand(2, 1, 2), "demand": torch.ones(2, n)}
    batch = problem.instances(**fields)
    starts = problem.starts(batch, trajectories)
    assert all(action.shape == (2, trajectories) for action in starts)
    first_customer = 1 if name == "cvrp" else 0
    wanted = [s % n + first_customer for s in range(trajectories)]
    assert starts[-1].tolist() == [wanted, wanted]
    assert [int(action.sum()) for action in starts[:-1]] == [0] * (len(starts) - 1)  # the depot
    state = problem.reset(batch, trajectories)
    for index, action in enumerate(starts):
        mask = problem.feasible(batch, state)
        # The first forced action of the CVRP is the depot, where the vehicle already is.
        if name == "tsp" or index > 0:
            assert bool(mask.gather(2, action[..., None]).all())
        state = problem.step(batch, state, action)
