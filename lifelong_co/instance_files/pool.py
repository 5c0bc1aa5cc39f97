"""Instances from files, and random draws of them."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import torch

from lifelong_co.errors import (
    ConfigError,
    FileFormatError,
    InvalidInstancesError,
    UnknownNameError,
)
from lifelong_co.instance_files import npz
from lifelong_co.instance_files.file_instance import to_instances
from lifelong_co.instance_files.formats import has_suffix, read_file, suffixes
from lifelong_co.instance_files.vrplib_parser import refuse
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records


def load_instances(
    path: str | os.PathLike[str], problem: Problem, *, scale: bool = False
) -> list[Any]:
    """Read the instances of a file or folder, and join those of the same size.

    Parameters
    ----------
    path
        One of:

        - an ``.npz`` file with an array for each field of the problem's instances, for the CVRP
          ``nodes [B, n, 2]``, ``depot [B, 1, 2]`` and ``demand [B, n]``; coordinates in the unit
          square, demand in fractions of the capacity, or integers together with a scalar
          ``capacity``;
        - a file of the problem's format (`formats`), such as TSPLIB's ``.tsp`` or CVRPLIB's
          ``.vrp``, scaled into the unit square;
        - a folder of files of these two kinds, read in the order of their names.
    problem
        The problem of the instances.
    scale
        Whether the coordinates of an ``.npz`` file have any unit, such as meters; see `npz.read`.

    Returns
    -------
    One float32 record for each size ``n``, smallest first.

    Raises
    ------
    FileFormatError
        If a file cannot be used, or a folder has none; the message names the file and the field.
    """
    by_size: dict[int, list[Any]] = {}
    for file in instance_files(path, problem):
        instances = _read(file, problem, scale)
        by_size.setdefault(problem.size(instances), []).append(instances)
    return [records.concatenate(by_size[size]) for size in sorted(by_size)]


def instance_files(path: str | os.PathLike[str], problem: Problem) -> list[Path]:
    """Return the files that `load_instances` reads, in its order.

    Raises
    ------
    FileFormatError
        If the file is of another kind or missing, or the folder has none.
    """
    source, formats = Path(path), suffixes(problem.name)
    if source.is_dir():
        return _listed(source, (".npz", *formats), problem)
    if has_suffix(source, (".npz", *formats)):
        return [source]
    wanted = f", a {' or '.join(formats)} file" if formats else ""
    raise refuse(
        source,
        f"problem {problem.name}: expected an .npz file{wanted} or a folder of those, "
        f"got {'a file of another kind' if source.exists() else 'a path that does not exist'}",
    )


def _listed(folder: Path, known: Sequence[str], problem: Problem) -> list[Path]:
    """Return the folder's instance files in the order of their names."""
    files = sorted(file for file in folder.iterdir() if has_suffix(file, known) and file.is_file())
    if not files:
        raise refuse(
            folder,
            f"problem {problem.name}: expected at least one {' or '.join(known)} file in this"
            " folder, got none",
        )
    return files


def _read(file: Path, problem: Problem, scale: bool) -> Any:
    """Return the instances of one file; every error names it. It warns of unused distances."""
    try:
        if has_suffix(file, (".npz",)):
            return npz.read(file, problem, scale=scale)
        found = read_file(file, problem.name)
        if found.weights is not None and found.coordinates.shape[1]:
            warnings.warn(
                f"{file}: the listed distances are not used; costs here are lengths of straight"
                " lines between the coordinates",
                stacklevel=3,
            )
        return to_instances(found, problem)
    except (InvalidInstancesError, ConfigError, UnknownNameError) as error:
        raise refuse(file, str(error)) from error


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
