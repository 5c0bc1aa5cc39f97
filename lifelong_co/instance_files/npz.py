"""Instances of any problem from ``.npz`` files: one array for each field of its instances."""

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np
import numpy.typing as npt

from lifelong_co.errors import InvalidInstancesError
from lifelong_co.instance_files.npz_loads import LOADS, fractions
from lifelong_co.instance_files.vrplib_parser import refuse
from lifelong_co.problems.images import COORDINATES
from lifelong_co.problems.validation import place
from lifelong_co.protocols import Problem
from lifelong_co.tensors.records import LENGTH

BESIDE = ("reference_cost", "demand_stored")
"""Arrays that no instance has, but published test sets: they are allowed and not read."""

Array = npt.NDArray[Any]


def read(file: Path, problem: Problem, *, scale: bool = False) -> Any:
    """Return the instances of a file, floats in single precision; nothing is unpickled.

    Parameters
    ----------
    file
        The file. It needs an array for each field that `Problem.instances` requires; other fields
        of its instances are read if the file has them. Any other array is refused, except
        those of `BESIDE`: without it the instances could lose a constraint.
    problem
        The problem of the instances.
    scale
        Whether each instance is shifted and divided by its longer side, so that its coordinates
        fill the unit square. Other fields in the same unit (`records.LENGTH`) are divided, too.

    Raises
    ------
    FileFormatError
        If the file or an array cannot be used; the message names both.
    InvalidInstancesError
        If the problem refuses the values; the caller names the file.
    """
    with contextlib.ExitStack() as stack:
        archive = _opened(file, stack)
        given = {
            name: _member(file, archive, name)
            for name, required in fields(problem).items()
            if required or name in archive.files
        }
        _refuse_unknown(file, archive.files, problem)
        loads = [name for name in LOADS if name in given]
        beside = "capacity" in archive.files and loads
        capacity = _member(file, archive, "capacity") if beside else None
    for name, array in given.items():
        if array.shape[:1] == (0,):
            shown = list(array.shape)
            raise refuse(file, f"{name}: expected at least one instance, got none ({shown})")
    found = given | {name: fractions(file, name, given[name], capacity) for name in loads}
    if scale:
        found = scaled(file, found, problem)
    with np.errstate(over="ignore"):  # too large numbers become infinite and are refused later
        found = {
            name: array.astype(np.float32) if np.issubdtype(array.dtype, np.floating) else array
            for name, array in found.items()
        }
    for name in COORDINATES:
        if name in found and _real(found[name]):
            _in_unit_square(file, name, found[name])
    try:
        return problem.instances(**values(found))
    except InvalidInstancesError as error:
        raise InvalidInstancesError(f"{error}{_as_given(error, given, found)}") from error


def _as_given(
    error: InvalidInstancesError, given: Mapping[str, Array], found: Mapping[str, Array]
) -> str:
    """Return a wrong value as it is in the file, where it was converted; else an empty text."""
    if error.field not in found:
        return ""
    before, after = (arrays[error.field][error.index] for arrays in (given, found))
    if np.allclose(before, after, rtol=1e-6, equal_nan=True):
        return ""
    return f"; in the file: {', '.join(f'{number:.12g}' for number in np.ravel(before))}"


def values(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return arrays, but as a str what is one text, as the name of a distance."""
    return {
        name: array.item() if array.dtype.kind == "U" and not array.ndim else array
        for name, array in arrays.items()
    }


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
        if not _real(found[name]) or not found[name].size:
            raise refuse(file, f"{name}: expected numbers, got {found[name].dtype}")
        finite = np.isfinite(found[name])
        if name in points and not finite.all():  # scaling would spread it over its instance
            index = tuple(np.argwhere(~finite)[0].tolist())
            value, where = found[name][index], place(index)
            raise refuse(file, f"{name}: expected finite coordinates, got {value:g} ({where})")
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


def _member(file: Path, archive: Any, field: str) -> Array:
    if field not in archive.files:
        found = ", ".join(archive.files) or "none"
        raise refuse(file, f"{field}: expected an array of this name, got {found}")
    try:
        return np.asarray(archive[field])
    except Exception as error:  # zipfile, zlib and numpy's parser raise different errors
        raise refuse(file, f"{field}: cannot be read ({error})") from error


def _real(array: Array) -> bool:
    return array.dtype.kind in "iuf"  # NumPy calls complex numbers and durations numbers, too


def _in_unit_square(file: Path, field: str, array: Array) -> None:
    """Refuse coordinates outside the unit square, where networks learn badly; tolerance 1e-6."""
    outside = np.atleast_1d((array < -1e-6) | (array > 1 + 1e-6))
    if outside.any():
        where = place(tuple(np.argwhere(outside)[0].tolist()))
        raise refuse(
            file,
            f"{field}: expected coordinates in the unit square, "
            f"got {array.min():g} to {array.max():g} (first in {where});"
            " the option scale scales each instance (in a task: scale = true;"
            " of references: scaled)",
        )
