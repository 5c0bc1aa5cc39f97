"""The tensors of instances: what is refused, with the name of the field."""

import math
import pickle

import pytest
import torch
from strategies import PROBLEMS, good

from lifelong_co.errors import InvalidInstancesError
from lifelong_co.problems.validation import refuse_where

both = pytest.mark.parametrize("name", sorted(PROBLEMS))


@both
def test_valid_instances_are_returned_unchanged(name: str) -> None:
    """Valid fields stay unchanged in a record of the problem's type."""
    fields = good(name)
    batch = PROBLEMS[name].instances(**fields)
    assert isinstance(batch, PROBLEMS[name].instances_type)
    assert all(torch.equal(getattr(batch, field), value) for field, value in fields.items())


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_refused(dtype: torch.dtype) -> None:
    """Its sums of demands would exceed the capacity."""
    fields = {field: value.to(dtype) for field, value in good("cvrp").items()}
    with pytest.raises(InvalidInstancesError, match=r"single or double precision, got torch.*16"):
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


@both
@pytest.mark.parametrize("value", ["cities", object(), [[1.0], [2.0, 3.0]]])
def test_values_that_are_no_tensor_are_refused(name: str, value: object) -> None:
    """A value that cannot become a tensor is refused, and the message names the field."""
    with pytest.raises(InvalidInstancesError, match=r"^nodes: expected a tensor"):
        PROBLEMS[name].instances(**(good(name) | {"nodes": value}))


def test_first_wrong_value_is_named_with_its_place() -> None:
    """Instances and rows count from 1 in the message, and from 0 in the index of the array."""
    value = torch.zeros(2, 3, 2)
    refuse_where("windows: expected at least 0", value, value[..., 0] < 0)
    value[1, 2, 0] = -0.5
    with pytest.raises(InvalidInstancesError) as caught:
        refuse_where("windows: expected at least 0", value, value[..., 0] < 0, "customer")
    expected = "windows: expected at least 0, got -0.5, 0 (instance 2, customer 3)"
    assert str(caught.value) == expected
    assert (caught.value.field, caught.value.index) == ("windows", (1, 2))
    assert str(pickle.loads(pickle.dumps(caught.value))) == expected
