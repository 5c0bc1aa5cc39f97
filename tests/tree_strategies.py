"""Hypothesis strategies for trees to save, and a comparison of two trees."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from hypothesis import strategies as st

from lifelong_co.storage.tree import DTYPES

# The dtypes whose values a test can make: no quantized, raw-bit or sub-byte ones.
WHOLE_BYTES = sorted(
    name
    for name in DTYPES
    if not name.startswith(("torch.q", "torch.bits"))
    and name not in {f"torch.{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)}
)
# torch cannot print the first, and warns once in a process about the second.
EASY = [name for name in WHOLE_BYTES if not name.endswith(("float4_e2m1fn_x2", "complex32"))]
numbers = st.integers() | st.integers(2**60, 2**70) | st.integers(-(2**200), 2**200)
leaves = st.none() | st.booleans() | numbers | st.floats() | st.text()


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Draw a tensor of any dtype and bit pattern: 0-dim, empty, strided, expanded or a slice."""
    dtype = DTYPES[draw(st.sampled_from(EASY))]
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    count = math.prod(shape)
    octets = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    if dtype == torch.bool:
        octets = bytes(octet & 1 for octet in octets)
    flat = torch.frombuffer(bytearray(octets or b"\0"), dtype=torch.uint8)[: len(octets)]
    tensor = flat.clone().view(dtype).reshape(shape)
    change = draw(st.sampled_from(["none", "transpose", "expand", "slice"]))
    if change == "transpose" and tensor.dim() >= 2:
        return tensor.transpose(0, -1)
    if change == "expand":
        return tensor.expand(2, *shape)
    return tensor[1:] if change == "slice" and tensor.dim() >= 1 else tensor


def branches(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return containers of the values that ``children`` draws."""
    few = st.lists(children, max_size=4)
    return few | few.map(tuple) | st.dictionaries(st.text() | numbers, children, max_size=4)


@st.composite
def trees(draw: st.DrawFn) -> Any:
    """Draw a tree; a tensor object may occur several times in it, or share memory with another."""
    pool = draw(st.lists(tensors(), min_size=1, max_size=4))
    pool += [tensor.view_as(tensor) for tensor in pool[:1]]  # another object, the same memory
    pooled = st.integers(0, len(pool) - 1).map(lambda index: pool[index])
    return draw(st.recursive(leaves | pooled, branches, max_leaves=20))


def raw(tensor: torch.Tensor) -> bytes:
    """Return the values as bytes, so that NaN equals itself and -0.0 is not 0.0."""
    return bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist())


def check_equal(first: Any, second: Any) -> None:
    """Check that two trees have the same types, values, keys in order, and tensors bit for bit."""
    assert type(first) is type(second)
    if isinstance(first, torch.Tensor):
        assert first.dtype == second.dtype
        assert first.shape == second.shape
        assert raw(first) == raw(second)
    elif isinstance(first, dict):
        assert list(first) == list(second)
        assert [type(key) for key in first] == [type(key) for key in second]
        for key in first:
            check_equal(first[key], second[key])
    elif isinstance(first, list | tuple):
        assert len(first) == len(second)
        for left, right in zip(first, second, strict=True):
            check_equal(left, right)
    elif isinstance(first, float):
        assert repr(first) == repr(second)
    else:
        assert first == second


def found(tree: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of a tree in its order."""
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from found(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from found(value)


def groups(tree: Any) -> list[int]:
    """Return for each tensor of a tree the position at which the same object occurred first."""
    first: dict[int, int] = {}
    return [first.setdefault(id(tensor), i) for i, tensor in enumerate(found(tree))]


EXAMPLE: dict[str, Any] = {
    "weights": {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor(True)},
    "state": {0: {"step": torch.tensor(3.0)}, 1: (1, 2.5, None)},
}


def hash_of(path: Path) -> Path:
    """Return the file with the hash."""
    return path.with_name(path.name + ".sha256")
