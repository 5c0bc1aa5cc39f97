"""Instances of any problem from ``.npz`` files: one array for each field of its instances."""

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np
import numpy.typing as npt

from lifelong_co.instance_files.vrplib_parser import refuse
from lifelong_co.problems.images import COORDINATES
from lifelong_co.protocols import Problem
from lifelong_co.tensors.records import LENGTH

LOADS = ("demand", "pickup")
"""Fields in fractions of the capacity, or in integers beside a scalar ``capacity``."""
BESIDE = ("reference_cost", "demand_stored")
"""Arrays that no instance has, but published test sets: they are allowed and not read."""

Array = npt.NDArray[Any]


def read(file: Path, problem: Problem, *, scale: bool = False) -> Any:
    """Return the instances of a file, floats in single precision; nothing is unpickled.

    Parameters
    ----------
    file
        The file. It needs an array for each field that `Problem.instances` requires; other fields
        of its instances are read if the file has them. Any array beside them (`BESIDE`) is refused:
        without it the instances could lose a constraint.
    problem
        The problem of the instances.
    scale
        Whether each instance is shifted and divided by its longer side, so that its coordinates
        fill the unit square. Other fields in the same unit (`records.LENGTH`) are divided, too.

    Raises
    ------
    FileFormatError
        If the file or an array cannot be used; the message names both.
    """
    with contextlib.ExitStack() as stack:
        archive = _opened(file, stack)
        found = {
            name: _field(file, archive, name)
            for name, required in fields(problem).items()
            if required or name in archive.files
        }
        _refuse_unknown(file, archive.files, problem)
    if scale:
        found = scaled(file, found, problem)
    with np.errstate(over="ignore"):  # too large numbers become infinite and are refused later
        found = {
            name: array.astype(np.float32) if np.issubdtype(array.dtype, np.floating) else array
            for name, array in found.items()
        }
    for name in COORDINATES:
        if name in found and np.issubdtype(found[name].dtype, np.number):
            _in_unit_square(file, name, found[name])
    # The name of a distance is a text of no dimension.
    return problem.instances(
        **{
            name: array.item() if array.dtype.kind == "U" and not array.ndim else array
            for name, array in found.items()
        }
    )


def fields(problem: Problem) -> dict[str, bool]:
    """Return the fields of a problem's instances, and whether a file must have each."""
    given = inspect.signature(problem.instances).parameters
    return {
        field.name: field.default is attrs.NOTHING
        and (field.name not in given or given[field.name].default is inspect.Parameter.empty)
        for field in attrs.fields(problem.instances_type)
    }


def _refuse_unknown(file: Path, names: Sequence[str], problem: Problem) -> None:
    """Refuse arrays that are no field of the problem: they may be constraints, or misspelled."""
    known = list(fields(problem))
    if not set(LOADS).isdisjoint(known):
        known.append("capacity")
    unknown = [name for name in names if name not in (*known, *BESIDE)]
    if unknown:
        raise refuse(
            file,
            f"{', '.join(unknown):.200}: expected only the arrays of {problem.name}"
            f" ({', '.join(known)}), got {'this' if len(unknown) == 1 else 'these'} as well",
        )


def scaled(file: Path, found: Mapping[str, Array], problem: Problem) -> dict[str, Array]:
    """Return fields ``[B, ...]`` with each instance in the unit square; see `read`."""
    kinds = attrs.fields_dict(problem.instances_type)
    in_length = [name for name in found if kinds[name].metadata.get(LENGTH)]
    points = [name for name in COORDINATES if name in found]
    for name in (*points, *in_length):
        if not np.issubdtype(found[name].dtype, np.number) or not found[name].size:
            raise refuse(file, f"{name}: expected numbers, got {found[name].dtype}")
    rows = {name: found[name].shape[:1] for name in (*points, *in_length)}
    for name in points:
        if found[name].ndim != 3 or found[name].shape[2] != 2:
            raise refuse(file, f"{name}: expected [B, n, 2], got {list(found[name].shape)}")
    if len(set(rows.values())) > 1 or () in rows.values():
        counts = ", ".join(f"{name} {list(found[name].shape)}" for name in rows)
        raise refuse(file, f"expected the same number of instances in all fields, got {counts}")
    whole = {name: found[name].astype(np.float64) for name in (*points, *in_length)}
    if points:
        joined = np.concatenate([whole[name] for name in points], axis=1)  # [B, A, 2]
        low = joined.min(axis=1, keepdims=True)
        side = (joined - low).max(axis=(1, 2))
        whole |= {name: whole[name] - low for name in points}
    else:  # a matrix of distances: the largest is 1
        side = np.max([_largest(whole[name]) for name in in_length], 0)
    side = np.where(side > 0, side, 1.0)
    for name, array in whole.items():
        whole[name] = array / side.reshape(-1, *[1] * (array.ndim - 1))
    return {**found, **whole}


def _largest(array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the largest entry of each instance ``[B]``; diagonals of matrices do not count."""
    if array.ndim == 3 and array.shape[1] == array.shape[2]:
        array = np.where(np.eye(array.shape[1], dtype=bool), 0.0, array)
    return cast(npt.NDArray[np.float64], array.reshape(len(array), -1).max(axis=1))


def _opened(file: Path, stack: contextlib.ExitStack) -> Any:
    """Open an archive; the stack closes it."""
    try:
        # Opened here, because numpy does not close a file that it cannot read.
        stream = stack.enter_context(file.open("rb"))
        archive = np.load(stream, allow_pickle=False)
    except Exception as error:  # zipfile, zlib and numpy's parser raise different errors
        # numpy takes a file of another kind for a pickle, and advises to load it unsafely.
        reason = "no archive of arrays" if "pickle" in str(error) else error
        raise refuse(file, f"cannot be read as .npz ({reason})") from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise refuse(file, "expected an archive of named arrays, got a single array")
    stack.enter_context(archive)
    return archive


def _field(file: Path, archive: Any, field: str) -> Array:
    """Return one field; integer loads are divided by the capacity.

    `Problem.instances` refuses other types.
    """
    array = _member(file, archive, field)
    if field not in LOADS:
        return array
    if np.issubdtype(array.dtype, np.integer):
        return array / _capacity(file, archive, field)
    if "capacity" in archive.files and np.issubdtype(array.dtype, np.floating):
        _refuse_other_unit(file, field, array, _member(file, archive, "capacity"))
    return array


def _refuse_other_unit(file: Path, field: str, array: Array, beside: Array) -> None:
    """Refuse floats beside a capacity that may be loads in its unit; a capacity of 1 has no other.

    A fraction of the capacity is a whole number of its units, as in the official test sets. Of ones
    only, nobody can tell whether they are units or full loads.
    """
    number = np.issubdtype(beside.dtype, np.number)
    if not np.isfinite(array).all() or (number and (beside <= 1).any()):
        return
    capacity = np.ones(1)
    if number and beside.size in (1, *array.shape[:1]):  # one for all instances, or one for each
        capacity = beside.reshape(-1, *[1] * (array.ndim - 1)).astype(float)
    units = array * capacity
    rest = np.abs(units - units.round())
    wrong = array[(array > 1) | (rest > 1e-3 + 1e-6 * capacity)]
    if not wrong.size and (array == array.round()).all():
        wrong = array[array == 1]
    if wrong.size:
        raise refuse(
            file,
            f"{field}: expected integers, or fractions that are whole parts of the capacity"
            f" {beside.tolist()!r:.80}, got {wrong[0]:g} as {array.dtype}; without 'capacity' all"
            " fractions are read",
        )


def _member(file: Path, archive: Any, field: str) -> Array:
    if field not in archive.files:
        found = ", ".join(archive.files) or "none"
        raise refuse(file, f"{field}: expected an array of this name, got {found}")
    try:
        return np.asarray(archive[field])
    except Exception as error:  # zipfile, zlib and numpy's parser raise different errors
        raise refuse(file, f"{field}: cannot be read ({error})") from error


def _capacity(file: Path, archive: Any, field: str) -> int:
    """Return the scalar ``capacity``, by which integer loads are divided."""
    if "capacity" not in archive.files:
        raise refuse(
            file, f"{field}: expected fractions, or integers and a scalar 'capacity', got integers"
        )
    capacity = _member(file, archive, "capacity")
    whole = np.issubdtype(capacity.dtype, np.integer) and capacity.size == 1
    if not whole or capacity.item() < 1:
        raise refuse(
            file, f"capacity: expected one integer of at least 1, got {capacity.tolist()!r:.80}"
        )
    return int(capacity.item())


def _in_unit_square(file: Path, field: str, array: Array) -> None:
    """Refuse coordinates outside the unit square, where networks learn badly; tolerance 1e-6."""
    if array.size and (array.min() < -1e-6 or array.max() > 1 + 1e-6):
        raise refuse(
            file,
            f"{field}: expected coordinates in the unit square, "
            f"got {array.min():g} to {array.max():g};"
            " the option scale scales each instance (in a task: scale = true;"
            " of references: scaled)",
        )
