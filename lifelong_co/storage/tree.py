"""A tree of plain data split in two parts that need no pickle: JSON values and a list of tensors.

=====================================  ====================================================
in the tree                            in the skeleton
=====================================  ====================================================
None, bool, str, finite float, int     the same value
list                                   array
dict, with str or int keys             ``{"dict": [[key, value], …]}``, in order
tuple                                  ``{"tuple": […]}``
int beyond 64 bits                     ``{"int": "0x…"}``
nan, inf, -inf                         ``{"float": "nan"}``
tensor                                 ``{"tensor": index}``
tensor of a dtype safetensors lacks    ``{"bytes": index, "dtype": "torch.…", "shape": […]}``
=====================================  ====================================================
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from lifelong_co.errors import CheckpointError

Tree: TypeAlias = Any
"""Dicts (keys str or int), lists, tuples, None, bool, int, float, str and tensors, nested."""

DEEPEST = 100  # levels; JSON readers stop near 1,000, and each level here takes up to three there

NATIVE = frozenset(
    (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    )
)
DTYPES = {str(dtype): dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}


def flatten(tree: Tree) -> tuple[Any, list[Tensor]]:
    """Split a tree into its skeleton and its tensors; `unflatten` does the reverse.

    Returns
    -------
    The skeleton, for `json.dumps`, and the tensors, for ``safetensors``: on the CPU, contiguous,
    and without shared memory. A tensor object that occurs several times in the tree is stored once.

    Raises
    ------
    CheckpointError
        If the tree holds anything that `Tree` does not list; the message names the place.
    """
    tensors: list[Tensor] = []
    indices: dict[int, int] = {}  # id of a tensor -> index; the tree keeps the tensor alive

    def encode(node: object, *path: object) -> Any:
        if len(path) > DEEPEST:
            raise CheckpointError(
                f"{place(path[:2])}: nested deeper than {DEEPEST} levels; "
                "does the tree contain itself?"
            )
        kind = type(node)
        if node is None or kind is bool or kind is str:
            return node
        if isinstance(node, int) and kind is int:
            return node if -(2**63) <= node < 2**63 else {"int": hex(node)}
        if isinstance(node, float) and kind is float:
            return node if math.isfinite(node) else {"float": repr(node)}
        if isinstance(node, Tensor):
            return encode_tensor(node, path)
        if isinstance(node, list) and kind is list:
            return [encode(item, *path, i) for i, item in enumerate(node)]
        if isinstance(node, tuple) and kind is tuple:
            return {"tuple": [encode(item, *path, i) for i, item in enumerate(node)]}
        if isinstance(node, dict):  # subclasses too: torch's own state_dict() is an OrderedDict
            pairs = node.items()
            return {"dict": [[encode_key(k, path), encode(v, *path, k)] for k, v in pairs]}
        raise CheckpointError(
            f"{place(path)}: expected a dict, list, tuple, tensor, None, bool, int, float or str, "
            f"got {kind.__module__}.{kind.__qualname__}"
        )

    def encode_key(key: object, path: Sequence[object]) -> Any:
        if type(key) is not str and type(key) is not int:
            raise CheckpointError(
                f"{place(path)}: expected str or int as keys, "
                f"got {key!r} ({type(key).__qualname__})"
            )
        return encode(key)

    def encode_tensor(tensor: Tensor, path: Sequence[object]) -> Any:
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta:
            raise CheckpointError(
                f"{place(path)}: expected a dense tensor with values, got {tensor.dtype}, "
                f"{tensor.layout}, on {tensor.device}"
            )
        if id(tensor) not in indices:
            indices[id(tensor)] = len(tensors)
            tensors.append(storable(tensor))
        index = indices[id(tensor)]
        if tensor.dtype in NATIVE:
            return {"tensor": index}
        return {"bytes": index, "dtype": str(tensor.dtype), "shape": list(tensor.shape)}

    return encode(tree), separate(tensors)


def place(path: Sequence[object]) -> str:
    """Return the place in the tree as a Python expression, e.g. ``tree['a'][0]``."""
    return "tree" + "".join(f"[{key!r}]" for key in path)


def storable(tensor: Tensor) -> Tensor:
    """Return a tensor contiguous and on the CPU; a dtype that safetensors lacks becomes bytes."""
    plain = tensor.detach().resolve_conj().resolve_neg().to("cpu").contiguous()
    return plain if plain.dtype in NATIVE else octets(plain)


def octets(tensor: Tensor) -> Tensor:
    """Return the bytes of a contiguous tensor, as a view: uint8 ``[numel * itemsize]``."""
    return tensor.reshape(-1).view(torch.uint8)


def separate(tensors: list[Tensor]) -> list[Tensor]:
    """Copy the tensors that share memory with another one: safetensors refuses them."""
    apart = list(tensors)
    end = 0
    for index in sorted(range(len(tensors)), key=lambda index: tensors[index].data_ptr()):
        tensor = tensors[index]
        if tensor.data_ptr() < end:
            apart[index] = tensor.clone()
        else:
            end = tensor.data_ptr() + tensor.nbytes
    return apart


def unflatten(skeleton: Any, tensor: Callable[[int], Tensor]) -> Tree:
    """Rebuild a tree from its skeleton and its tensors.

    Parameters
    ----------
    skeleton
        The skeleton from `flatten`, possibly written to JSON and read again.
    tensor
        Returns the tensor of an index; called once for each index.

    Raises
    ------
    KeyError, TypeError, ValueError, RuntimeError
        If the skeleton does not have the form that `flatten` makes.
    """
    known: dict[int, Tensor] = {}

    def once(index: int, build: Callable[[Tensor], Tensor]) -> Tensor:
        if index not in known:
            known[index] = build(tensor(index))
        return known[index]

    def decode(node: Any) -> Tree:
        if isinstance(node, list):
            return [decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        match node:
            case {"dict": pairs}:
                return {decode(key): decode(value) for key, value in pairs}
            case {"tuple": items}:
                return tuple(decode(item) for item in items)
            case {"tensor": index}:
                return once(index, lambda values: values)
            case {"bytes": index, "dtype": dtype, "shape": shape}:
                kind = DTYPES[dtype]
                return once(index, lambda values: values.view(kind).reshape(shape))
            case {"int": digits}:
                return int(digits, 16)
            case {"float": digits}:
                return float(digits)
        raise ValueError(f"unknown mark {sorted(node)}")

    return decode(skeleton)
