"""Both problems on random walks over feasible actions, compared with independent checks."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import PROBLEMS, UNIT, Walk, identical, walks

from lifelong_co.errors import InvalidInstancesError
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


def naive_length(points: np.ndarray, actions: list[int]) -> float:
    """Return the length of the closed walk over ``points [A, 2]``, leg by leg."""
    total = 0.0
    for here, there in zip(actions, actions[1:] + actions[:1], strict=True):
        total += math.dist(points[here], points[there])
    return total


def all_points(walk: Walk) -> np.ndarray:
    """Return the coordinates of all actions, float64 ``[B, A, 2]``."""
    fields = records.tensors(walk.instances)
    parts = [fields["nodes"]] if "depot" not in fields else [fields["depot"], fields["nodes"]]
    return torch.cat(parts, dim=1).double().numpy()


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


@given(walks("cvrp"))
def test_a_finished_cvrp_trajectory_stays_at_the_depot(walk: Walk) -> None:
    """When all is done, only the depot is feasible, and a visit there changes nothing."""
    for state, mask in zip(walk.states, walk.masks, strict=True):
        done = walk.problem.done(walk.instances, state)
        only_depot = torch.zeros_like(mask[0, 0])
        only_depot[0] = True
        assert bool((mask[done] == only_depot).all())
    home = torch.zeros_like(walk.actions[..., 0])
    after = walk.problem.step(walk.instances, walk.states[-1], home)
    assert bool(walk.problem.done(walk.instances, after).all())
    longer = torch.cat((walk.actions, home[..., None]), dim=2)
    cost = walk.problem.cost(walk.instances, walk.actions)
    torch.testing.assert_close(walk.problem.cost(walk.instances, longer), cost)


@both
@given(data=st.data())
def test_cost_is_the_length_of_the_closed_walk(name: str, data: st.DataObject) -> None:
    """The cost equals a sum of distances in plain Python, leg by leg."""
    walk = data.draw(walks(name))
    cost = walk.problem.cost(walk.instances, walk.actions)
    assert cost.dtype == walk.instances.nodes.dtype
    points = all_points(walk)
    expected = [
        [naive_length(points[b], actions) for actions in walk.actions[b].tolist()]
        for b in range(len(points))
    ]
    np.testing.assert_allclose(cost.double().numpy(), expected, rtol=1e-5, atol=1e-6)


@both
@given(data=st.data())
def test_cost_is_invariant_under_the_eight_symmetries(name: str, data: st.DataObject) -> None:
    """A solution has the same cost on all images; row k * B + b is an image of instance b."""
    walk = data.draw(walks(name))
    images = walk.problem.augment(walk.instances)
    assert records.rows(images) == 8 * records.rows(walk.instances)
    cost = walk.problem.cost(walk.instances, walk.actions)
    again = walk.problem.cost(images, walk.actions.repeat(8, 1, 1))
    torch.testing.assert_close(again, cost.repeat(8, 1), rtol=1e-5, atol=1e-5)
    assert identical(records.select(images, slice(0, records.rows(walk.instances))), walk.instances)


@both
def test_the_eight_images_differ(name: str) -> None:
    """An instance without symmetry has eight different images."""
    fields = {"nodes": torch.tensor([[[0.1, 0.2], [0.3, 0.9], [0.8, 0.35]]])}
    if name == "cvrp":
        fields |= {"depot": torch.tensor([[[0.6, 0.15]]]), "demand": torch.full((1, 3), 0.5)}
    images = PROBLEMS[name].augment(PROBLEMS[name].instances(**fields))
    assert len({tuple(points.flatten().tolist()) for points in images.nodes}) == 8


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


def good(name: str) -> dict[str, Any]:
    """Return the fields of a valid batch, ``B = 2`` and ``n = 3``."""
    fields = {"nodes": torch.full((2, 3, 2), 0.5)}
    if name == "cvrp":
        fields |= {"depot": torch.full((2, 1, 2), 0.5), "demand": torch.full((2, 3), 0.5)}
    return fields


@both
def test_valid_instances_are_returned_unchanged(name: str) -> None:
    """Valid fields stay unchanged in a record of the problem's type."""
    fields = good(name)
    batch = PROBLEMS[name].instances(**fields)
    assert isinstance(batch, PROBLEMS[name].instances_type)
    assert all(torch.equal(getattr(batch, field), value) for field, value in fields.items())


def test_demands_at_the_bounds_are_accepted() -> None:
    """Demand 0 and the demand of the whole capacity are valid."""
    fields = good("cvrp") | {"demand": torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])}
    batch = PROBLEMS["cvrp"].instances(**fields)
    assert torch.equal(batch.demand, fields["demand"])


FIELDS = [("tsp", "nodes"), ("cvrp", "nodes"), ("cvrp", "depot"), ("cvrp", "demand")]


@pytest.mark.parametrize(("name", "field"), FIELDS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused(name: str, field: str, value: float) -> None:
    """One NaN or infinity anywhere is refused, and the message names the field."""
    fields = good(name)
    fields[field].view(-1)[-1] = value
    with pytest.raises(InvalidInstancesError, match=f"^{field}: expected finite"):
        PROBLEMS[name].instances(**fields)


@pytest.mark.parametrize(("name", "field"), FIELDS)
def test_integers_are_refused(name: str, field: str) -> None:
    """Integers are refused where fractions are expected; the message names field and dtype."""
    fields = good(name)
    fields[field] = fields[field].long()
    with pytest.raises(InvalidInstancesError, match=f"^{field}: .*floating-point.*int64"):
        PROBLEMS[name].instances(**fields)


@pytest.mark.parametrize(("name", "field"), FIELDS)
@pytest.mark.parametrize("change", ["fewer dimensions", "more dimensions", "no rows", "wider"])
def test_wrong_shapes_are_refused(name: str, field: str, change: str) -> None:
    """A wrong shape is refused, and the message names the field and its shape."""
    fields = good(name)
    value = fields[field]
    fields[field] = {
        "fewer dimensions": value[0],
        "more dimensions": value[None],
        "no rows": value[:0],
        "wider": torch.cat((value, value), dim=-1),
    }[change]
    shape = str(list(fields[field].shape)).replace("[", r"\[").replace("]", r"\]")
    # A wrong shape of `nodes` is found first, for any values of the other fields.
    with pytest.raises(InvalidInstancesError, match=f"^{field}: expected shape .*, got {shape}"):
        PROBLEMS[name].instances(**fields)


@pytest.mark.parametrize("field", ["depot", "demand"])
def test_batches_of_different_length_are_refused(field: str) -> None:
    """A field with another number of instances than the nodes is refused by name."""
    fields = good("cvrp")
    fields[field] = torch.cat((fields[field], fields[field]))
    with pytest.raises(InvalidInstancesError, match=f"^{field}: expected shape"):
        PROBLEMS["cvrp"].instances(**fields)


@pytest.mark.parametrize("field", ["depot", "demand"])
def test_mixed_precisions_are_refused(field: str) -> None:
    """A field in another dtype than the nodes is refused, and the message names both."""
    fields = good("cvrp")
    fields[field] = fields[field].double()
    with pytest.raises(InvalidInstancesError, match=f"^{field}: .*float32.*nodes.*float64"):
        PROBLEMS["cvrp"].instances(**fields)


@both
def test_fewer_than_two_nodes_are_refused(name: str) -> None:
    """A routing problem has at least two nodes."""
    fields = {field: value[:, :1] for field, value in good(name).items()}
    with pytest.raises(InvalidInstancesError, match=r"^nodes: expected at least two nodes, got 1"):
        PROBLEMS[name].instances(**fields)


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.01, "above the capacity"), (-0.01, "expected at least 0, got -0.01")],
)
def test_demands_outside_the_bounds_are_refused(value: float, message: str) -> None:
    """A demand above the capacity or below 0 is refused; the message says which bound."""
    fields = good("cvrp")
    fields["demand"][1, 2] = value
    with pytest.raises(InvalidInstancesError, match=f"^demand: .*{message}"):
        PROBLEMS["cvrp"].instances(**fields)


@both
@pytest.mark.parametrize("value", ["cities", object(), [[1.0], [2.0, 3.0]]])
def test_values_that_are_no_tensor_are_refused(name: str, value: object) -> None:
    """A value that cannot become a tensor is refused, and the message names the field."""
    with pytest.raises(InvalidInstancesError, match=r"^nodes: expected a tensor"):
        PROBLEMS[name].instances(**(good(name) | {"nodes": value}))
