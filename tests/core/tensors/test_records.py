"""Moving, slicing and joining records."""

import attrs
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import identical, instances
from torch import Tensor

from lifelong_co.problems.cvrp import CVRPInstances
from lifelong_co.tensors import records

batches = st.sampled_from(["tsp", "cvrp"]).flatmap(instances)


@attrs.frozen(eq=False)
class Pair:
    """A third-party record."""

    second: Tensor
    first: Tensor


def pair() -> Pair:
    """Return a record of three rows."""
    return Pair(second=torch.arange(3), first=torch.arange(6.0).reshape(3, 2))


def test_changed_fields_are_named() -> None:
    """NaN is no change where it was before."""
    now = attrs.evolve(pair(), first=torch.tensor([[1.0, torch.nan]] * 3))
    before = records.transform(now, torch.clone)
    assert records.changed(before, now) == []
    now.first[2, 0] = 5
    assert records.changed(before, now) == ["first"]
    now.first[2] = torch.nan
    assert records.changed(before, now) == ["first"]


def test_tensors_are_named_in_the_order_of_definition() -> None:
    """Fields come by name, in the order of the class, as the same objects."""
    record = pair()
    assert list(records.tensors(record)) == ["second", "first"]
    assert records.tensors(record)["first"] is record.first


def test_transform_keeps_the_type_and_changes_every_tensor() -> None:
    """The result is of the same class, and the original does not change."""
    record = pair()
    doubled = records.transform(record, lambda tensor: tensor * 2)
    assert type(doubled) is Pair
    assert doubled.second.tolist() == [0, 2, 4]
    assert doubled.first.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert record.second.tolist() == [0, 1, 2]


def test_selections_pick_rows_of_every_field() -> None:
    """Indices, masks and slices pick the same rows of every field."""
    record = pair()
    for index in (torch.tensor([2, 0]), torch.tensor([True, False, True]), slice(1, None)):
        picked = records.select(record, index)
        assert torch.equal(picked.second, record.second[index])
        assert torch.equal(picked.first, record.first[index])
        assert records.rows(picked) == 2


@given(batches, st.data())
def test_joining_undoes_splitting(batch: object, data: st.DataObject) -> None:
    """A batch, split at any row and joined again, is the same, bit for bit."""
    cut = data.draw(st.integers(0, records.rows(batch)))
    parts = [records.select(batch, slice(0, cut)), records.select(batch, slice(cut, None))]
    assert identical(records.concatenate(parts), batch)
    assert type(records.concatenate(parts)) is type(batch)
    assert sum(records.rows(part) for part in parts) == records.rows(batch)


@given(batches)
def test_joining_one_record_copies_nothing(batch: object) -> None:
    """A single record is returned as the same object."""
    assert records.concatenate([batch]) is batch


@attrs.frozen
class Sparse:
    """A record with a field that may be missing."""

    place: Tensor
    load: Tensor | None = attrs.field(default=None, metadata={records.ABSENT: 1.5})


@pytest.mark.parametrize("dim", [0, 1])
def test_missing_field_is_filled_along_the_dimension_of_joining(dim: int) -> None:
    """In its place, whichever record lacks it; the others keep their sizes."""
    whole = Sparse(torch.zeros(2, 2), torch.zeros(2, 2, 3))
    bare = Sparse(torch.ones(2, 4) if dim else torch.ones(4, 2))
    filled = torch.full((2, 4, 3) if dim else (4, 2, 3), 1.5)
    after, before = records.concatenate([whole, bare], dim), records.concatenate([bare, whole], dim)
    assert after.load is not None
    assert before.load is not None
    assert torch.equal(after.load, torch.cat([whole.load, filled], dim))
    assert torch.equal(before.load, torch.cat([filled, whole.load], dim))
    assert after.place.shape == after.load.shape[:2]


def test_rows_are_those_of_the_shared_first_dimension() -> None:
    """The number of rows is ``B``, not another dimension."""
    batch = CVRPInstances(
        depot=torch.zeros(4, 1, 2), nodes=torch.zeros(4, 7, 2), demand=torch.zeros(4, 7)
    )
    assert records.rows(batch) == 4


def test_records_move_between_devices() -> None:
    """`to` moves every field, and `device` returns the device of a record."""
    record = pair()
    moved = records.to(record, "meta")  # the one other device that every machine has
    assert records.device(record) == torch.device("cpu")
    assert records.device(moved) == torch.device("meta")
    assert {tensor.device.type for tensor in records.tensors(moved).values()} == {"meta"}
    assert moved.first.shape == (3, 2)
