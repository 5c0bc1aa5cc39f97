"""The CVRP: its end and its demands."""

import pytest
import torch
from hypothesis import given
from strategies import PROBLEMS, Walk, good, walks

from lifelong_co.errors import InvalidInstancesError


@given(walks("cvrp"))
def test_finished_trajectory_stays_at_the_depot(walk: Walk) -> None:
    """At the end only the depot is feasible, and a visit there changes nothing."""
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


def test_demands_at_the_bounds_are_accepted() -> None:
    """Demand 0 and the demand of the whole capacity are valid."""
    fields = good("cvrp") | {"demand": torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])}
    batch = PROBLEMS["cvrp"].instances(**fields)
    assert torch.equal(batch.demand, fields["demand"])


@pytest.mark.parametrize("field", ["depot", "demand"])
def test_batches_of_different_length_are_refused(field: str) -> None:
    """A field with another number of instances than the nodes is refused by name."""
    fields = good("cvrp")
    fields[field] = torch.cat((fields[field], fields[field]))
    with pytest.raises(InvalidInstancesError, match=f"^{field}: expected shape"):
        PROBLEMS["cvrp"].instances(**fields)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.01, "above the capacity"),
        (-0.01, r"expected at least 0, got -0.01 \(instance 2, customer 3\)"),
    ],
)
def test_demands_outside_the_bounds_are_refused(value: float, message: str) -> None:
    """A demand above the capacity or below 0 is refused; the message says which bound."""
    fields = good("cvrp")
    fields["demand"][1, 2] = value
    with pytest.raises(InvalidInstancesError, match=f"^demand: .*{message}"):
        PROBLEMS["cvrp"].instances(**fields)
