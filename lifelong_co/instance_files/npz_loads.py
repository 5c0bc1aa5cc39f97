"""Loads of ``.npz`` files: fractions of the capacity, or numbers in the unit of a ``capacity``."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lifelong_co.instance_files.file_instance import tightened
from lifelong_co.instance_files.vrplib_parser import refuse
from lifelong_co.problems.validation import place

LOADS = ("demand", "pickup")
"""Fields in fractions of the capacity, or in integers beside a scalar ``capacity``."""

Array = npt.NDArray[Any]


def fractions(file: Path, field: str, array: Array, capacity: Array | None) -> Array:
    """Return a field of `LOADS` in fractions of the capacity; other types are left as they are.

    Whole numbers count as integers, whatever their type, if one is above 1: as a fraction it would
    be above the capacity.

    Parameters
    ----------
    file
        The file, for messages.
    field, array
        The name and the content of the field, ``[B, n]``.
    capacity
        What the file has as ``capacity``; None: nothing.

    Raises
    ------
    FileFormatError
        If the capacity cannot be used, or nobody can tell whether the numbers are fractions.
    """
    if np.issubdtype(array.dtype, np.integer) or _whole(array):
        whole = _scalar(file, field, capacity)
        return tightened(array / whole, whole)
    if capacity is not None and np.issubdtype(array.dtype, np.floating):
        _refuse_other_unit(file, field, array, capacity)
        return tightened(array, _of_each(capacity, array))
    return array


def _whole(array: Array) -> bool:
    """Return whether floats are loads in integers; of zeros and ones nobody can tell."""
    if not np.issubdtype(array.dtype, np.floating) or not np.isfinite(array).all():
        return False
    return bool((array == array.round()).all() and (array > 1).any())


def _refuse_other_unit(file: Path, field: str, array: Array, beside: Array) -> None:
    """Refuse floats beside a capacity that may be loads in its unit; a capacity of 1 has no other.

    A fraction of the capacity is a whole number of its units, as in the official test sets. Of ones
    only, nobody can tell whether they are units or full loads.
    """
    number = np.issubdtype(beside.dtype, np.number)
    if not np.isfinite(array).all() or (number and (beside <= 1).any()):
        return
    capacity = _of_each(beside, array)
    units = array * capacity
    rest = np.abs(units - units.round())
    wrong = (array > 1) | (rest > 1e-3 + 1e-6 * capacity)
    if not wrong.any() and (array == array.round()).all():
        wrong = array == 1
    if wrong.any():
        index = tuple(np.argwhere(wrong)[0].tolist())
        where = f" ({place(index, 'customer')})" if index else ""
        raise refuse(
            file,
            f"{field}: expected integers, or fractions that are whole parts of the capacity"
            f" {beside.tolist()!r:.80}, got {array[index]:g} as {array.dtype}{where}; loads:"
            f" convert {field} to integers; fractions of the capacity: leave out 'capacity'",
        )


def _of_each(capacity: Array, array: Array) -> Array:
    """Return a capacity for all instances or for each, to multiply a field by; else 1."""
    number = np.issubdtype(capacity.dtype, np.number)
    if not number or capacity.size not in (1, *array.shape[:1]):
        return np.ones(1)
    return capacity.reshape(-1, *[1] * (array.ndim - 1)).astype(float)


def _scalar(file: Path, field: str, capacity: Array | None) -> int:
    """Return the scalar ``capacity``, by which integer loads are divided."""
    if capacity is None:
        raise refuse(
            file, f"{field}: expected fractions, or integers and a scalar 'capacity', got integers"
        )
    number = capacity.dtype.kind in "iuf" and capacity.size == 1
    if not number or not 1 <= capacity.item() < np.inf or capacity.item() % 1:
        raise refuse(
            file, f"capacity: expected one integer of at least 1, got {capacity.tolist()!r:.80}"
        )
    return int(capacity.item())
