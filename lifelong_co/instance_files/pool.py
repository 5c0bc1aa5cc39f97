"""Instances from ``.npz``, TSPLIB and CVRPLIB files, and random draws of them."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co.errors import ConfigError, FileFormatError, InvalidInstancesError
from lifelong_co.instance_files.file_instance import (
    to_instances,
)
from lifelong_co.instance_files.vrplib_instances import (
    read_instance,
)
from lifelong_co.instance_files.vrplib_parser import refuse
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records

_FIELDS = {"tsp": ("nodes",), "cvrp": ("depot", "nodes", "demand")}
_SUFFIXES = {"tsp": ".tsp", "cvrp": ".vrp"}


def load_instances(path: str | os.PathLike[str], problem: Problem) -> list[Any]:
    """Read the instances of a file or folder, and join those of the same size.

    Parameters
    ----------
    path
        One of:

        - an ``.npz`` file with the problem's arrays: ``nodes [B, n, 2]`` and, for the CVRP,
          ``depot [B, 1, 2]`` and ``demand [B, n]``; coordinates in the unit square, demand in
          fractions of the capacity, or integers together with a scalar ``capacity``;
        - a TSPLIB (``.tsp``) or CVRPLIB (``.vrp``) file, scaled into the unit square;
        - a folder of TSPLIB or CVRPLIB files, read in the order of their names.
    problem
        ``tsp`` or ``cvrp``.

    Returns
    -------
    One float32 record for each size ``n``, smallest first.

    Raises
    ------
    FileFormatError
        If a file cannot be used; the message names the file and the field.
    ConfigError
        If the problem is neither ``tsp`` nor ``cvrp``.
    """
    if problem.name not in _FIELDS:
        raise ConfigError(f"instances from files: expected tsp or cvrp, got {problem.name}")
    source = Path(path)
    if source.is_dir():
        files = _listed(source, _SUFFIXES[problem.name])
    elif source.suffix in (".npz", _SUFFIXES[problem.name]):
        files = [source]
    else:
        raise refuse(
            source,
            f"expected an .npz file, a {_SUFFIXES[problem.name]} file or a folder of those, "
            f"got {'a file of another kind' if source.exists() else 'a path that does not exist'}",
        )
    by_size: dict[int, list[Any]] = {}
    for file in files:
        instances = _read(file, problem)
        by_size.setdefault(problem.size(instances), []).append(instances)
    return [records.concatenate(by_size[size]) for size in sorted(by_size)]


def _listed(folder: Path, suffix: str) -> list[Path]:
    """Return the folder's instance files in the order of their names."""
    files = sorted(file for file in folder.iterdir() if file.suffix == suffix and file.is_file())
    if not files:
        raise refuse(folder, f"expected at least one {suffix} file in this folder, got none")
    return files


def _read(file: Path, problem: Problem) -> Any:
    """Return the instances of one file; every error names the file."""
    try:
        if file.suffix == ".npz":
            return problem.instances(**dict(_arrays(file, problem.name)))
        return to_instances(read_instance(file), problem)
    except (InvalidInstancesError, ConfigError) as error:
        raise refuse(file, str(error)) from error


def _arrays(file: Path, problem: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the problem's fields of an ``.npz`` file, floats as float32."""
    with contextlib.ExitStack() as stack:
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
        for field in _FIELDS[problem]:
            yield field, _field(file, archive, field)


def _field(file: Path, archive: Any, field: str) -> npt.NDArray[Any]:
    """Return one field; integer demand is divided by the capacity, floats become float32.

    `Problem.instances` refuses other types.
    """
    array = _member(file, archive, field)
    if field == "demand" and np.issubdtype(array.dtype, np.integer):
        array = array / _capacity(file, archive)
    if np.issubdtype(array.dtype, np.floating):
        with np.errstate(over="ignore"):  # too large numbers become infinite and are refused later
            array = array.astype(np.float32)
        if field != "demand":
            _in_unit_square(file, field, array)
    return array


def _member(file: Path, archive: Any, field: str) -> npt.NDArray[Any]:
    if field not in archive.files:
        found = ", ".join(archive.files) or "none"
        raise refuse(file, f"{field}: expected an array of this name, got {found}")
    try:
        return np.asarray(archive[field])
    except Exception as error:  # zipfile, zlib and numpy's parser raise different errors
        raise refuse(file, f"{field}: cannot be read ({error})") from error


def _capacity(file: Path, archive: Any) -> int:
    """Return the scalar ``capacity``, by which integer demand is divided."""
    if "capacity" not in archive.files:
        raise refuse(
            file, "demand: expected fractions, or integers and a scalar 'capacity', got integers"
        )
    capacity = _member(file, archive, "capacity")
    whole = np.issubdtype(capacity.dtype, np.integer) and capacity.size == 1
    if not whole or capacity.item() < 1:
        raise refuse(
            file, f"capacity: expected one integer of at least 1, got {capacity.tolist()!r:.80}"
        )
    return int(capacity.item())


def _in_unit_square(file: Path, field: str, array: npt.NDArray[Any]) -> None:
    """Refuse coordinates outside the unit square, where networks learn badly; tolerance 1e-6."""
    if array.size and (array.min() < -1e-6 or array.max() > 1 + 1e-6):
        raise refuse(
            file,
            f"{field}: expected coordinates in the unit square, "
            f"got {array.min():g} to {array.max():g}; scale each instance into it",
        )


@attrs.frozen(eq=False)
class InstancePool:
    """Stored instances, drawn with the interface of a `protocols.Distribution`."""

    problem: Problem
    groups: Sequence[Any] = attrs.field(converter=tuple)
    """Records, each with instances of one size, from `load_instances`."""

    @groups.validator
    def _some(self, attribute: Any, value: Sequence[Any]) -> None:  # noqa: ARG002
        if not value:
            raise FileFormatError("instance pool: expected at least one instance, got none")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes ``n`` that can be drawn, in increasing order."""
        return tuple(sorted({self.problem.size(group) for group in self.groups}))

    def sample(
        self,
        batch: int,
        size: int | None = None,
        *,
        generator: torch.Generator | None = None,
    ) -> Any:
        """Draw ``B = batch`` instances of one size with replacement.

        Parameters
        ----------
        batch
            ``B``, at least 1.
        size
            ``n``. None: the size of one instance drawn uniformly from the pool; so the probability
            of a size is its share of the pool.
        generator
            The source of all random numbers; the instances are on its device. None: torch's default
            generator, on the CPU.

        Raises
        ------
        ConfigError
            If no instance has that size.
        """
        groups = [g for g in self.groups if size in (None, self.problem.size(g))]
        if not groups:
            sizes = ", ".join(map(str, self.sizes))
            raise ConfigError(f"instance pool: expected one of the sizes {sizes}, got {size}")
        device = generator.device if generator is not None else torch.device("cpu")
        ends = torch.tensor([records.rows(group) for group in groups]).cumsum(0)
        one = torch.randint(int(ends[-1]), (1,), generator=generator, device=device).cpu()
        group = groups[int(torch.searchsorted(ends, one, right=True))]
        index = torch.randint(records.rows(group), (batch,), generator=generator, device=device).to(
            records.device(group)
        )
        return records.to(records.select(group, index), device)
