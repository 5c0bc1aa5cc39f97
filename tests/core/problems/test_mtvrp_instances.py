"""Instances of the multi-task VRP: absent attributes, and what is refused."""

from typing import Any

import attrs
import pytest
import torch
from variants import VARIANTS, drawn

from lifelong_co.errors import InvalidInstancesError
from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.mtvrp_instances import MTVRPInstances, images
from lifelong_co.tensors import records

INF = float("inf")


def fields(**others: Any) -> dict[str, Any]:
    """Return the fields of two instances of two customers at a distance of 0.5 of the depot."""
    wide = {
        name: torch.as_tensor(value).expand(2, *torch.as_tensor(value).shape)
        for name, value in others.items()
    }
    return {
        "depot": torch.zeros(2, 1, 2),
        "nodes": torch.tensor([[0.5, 0.0], [0.0, 0.5]]).expand(2, -1, -1),
        "demand": torch.full((2, 2), 0.5),
    } | wide


def test_absent_attributes_have_no_effect() -> None:
    """Without attributes nothing is picked up, nothing takes time, and nothing is limited."""
    batch = MTVRP().instances(**fields())
    assert batch.windows.tolist() == [[[0.0, INF]] * 2] * 2
    assert batch.horizon.tolist() == batch.limit.tolist() == [INF, INF]
    assert not bool(batch.pickup.any() | batch.service.any())
    assert not bool(batch.open.any())


@pytest.mark.parametrize("names", VARIANTS, ids="+".join)
def test_instances_are_made_again_of_their_fields(names: tuple[str, ...]) -> None:
    """All fields of a record are arguments of `instances`, so that a file can hold them."""
    batch = drawn(names)
    again = MTVRP().instances(**records.tensors(batch))
    assert {name: value.tolist() for name, value in records.tensors(again).items()} == {
        name: value.tolist() for name, value in records.tensors(batch).items()
    }


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("pickup", [1.5, 0.0], "pickup: expected fractions .* got 1.5 .instance 1, customer 1"),
        ("pickup", [0.0, 0.5], "pickup: expected 0 for a customer with a demand, got 0.5"),
        ("pickup", [0.0], r"pickup: expected shape \[2, 2\], got \[2, 1\]"),
        ("windows", [[-1.0, 1.0], [0.0, 1.0]], "windows: expected an earliest time of at least 0"),
        ("windows", [[INF, INF], [0.0, 1.0]], "windows: expected an earliest time"),
        ("windows", [[0.0, 1.0], [0.9, 0.8]], "windows: .* got 0.9, 0.8 .instance 1, customer 2"),
        ("windows", [[0.0, 1.0], [0.0, 0.4]], "windows: expected times at which a route can serve"),
        (
            "windows",
            [[0.0, 1.0], [0.0, float("nan")]],
            "windows: expected numbers or infinity",
        ),
        ("windows", [[0, 1], [0, 1]], "windows: expected floating-point numbers"),
        ("windows", "soon", "windows: expected a tensor"),
        ("service", [-0.1, 0.0], "service: expected at least 0"),
        ("horizon", INF, "horizon: expected a finite number in an instance with time windows"),
        ("horizon", -1.0, "horizon: expected at least 0"),
        ("horizon", 0.9, "windows: expected times at which a route can serve"),
        ("limit", -1.0, "limit: expected at least 0"),
        ("limit", 0.9, "limit: expected a length that reaches every customer, got 0.9"),
        ("open", 0.5, "open: expected 0 or 1, got 0.5"),
        ("demand", [0.5, 1.5], "demand: .*above the capacity"),
    ],
)
def test_wrong_fields_are_refused_by_name(field: str, value: Any, message: str) -> None:
    """The error names the field, the value and the place."""
    given = fields(windows=[[0.0, 2.0], [0.0, 2.0]], horizon=3.0)
    given[field] = value if isinstance(value, str) else fields(**{field: value})[field]
    with pytest.raises(InvalidInstancesError, match=f"^{message}"):
        MTVRP().instances(**given)


def test_fields_of_another_type_are_refused() -> None:
    """All fields have the dtype of the nodes."""
    with pytest.raises(InvalidInstancesError, match=r"limit: expected torch\.float32"):
        MTVRP().instances(**fields(limit=torch.tensor(3.0).double()))


def test_customers_at_the_bound_are_reached() -> None:
    """A limit and a horizon of exactly the way there and back are accepted."""
    batch = MTVRP().instances(**fields(limit=1.0, horizon=1.0))
    assert batch.limit.tolist() == [1.0, 1.0]


def test_images_repeat_all_fields_except_the_coordinates() -> None:
    """Row ``k * B + b`` is image ``k`` of instance ``b``; image 0 is the instance."""
    batch = drawn(VARIANTS[-1])
    eight = images(batch)
    for field in attrs.fields(MTVRPInstances):
        before, after = getattr(batch, field.name), getattr(eight, field.name)
        assert torch.equal(after[:3], before)
        same = torch.equal(after[3:6], before)
        assert same == (field.name not in ("depot", "nodes"))
