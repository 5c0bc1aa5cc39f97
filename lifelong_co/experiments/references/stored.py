"""Published reference costs of test instances, read from their original files.

There are two forms. A folder ``testsets`` has arrays: ``cvrp-GM100.npz`` holds the instances and
``reference_cost [B]``. The official code has text files below ``generated_test_instances``, such
as ``CVRPinstances_GM_100_10000_seed0_HGS_solution``. They have one line for each instance, with
actions, cost and seconds; the last line may be incomplete.
"""

import lzma
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import attrs
import numpy as np

from lifelong_co import registry
from lifelong_co.errors import FileFormatError
from lifelong_co.experiments.references.subject import keys_of
from lifelong_co.instance_files import npz
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records

# The official code's names of the distributions that the paper calls G and R.
_OFFICIAL_NAMES = {"G": "Grid", "R": "Ring"}


# What reading a damaged archive raises. RuntimeError: it seems encrypted, or compressed by an
# unknown method. MemoryError: it states a shape that is far too large. AttributeError: a member
# is no array.
READING = (
    *(OSError, ValueError, TypeError, KeyError, AttributeError, EOFError, RuntimeError),
    *(MemoryError, BadZipFile, zlib.error, lzma.LZMAError),
)


@attrs.frozen(eq=False)
class Stored:
    """The published references of one test set."""

    file: Path
    instances: Any
    """``B`` instances, on the CPU."""
    costs: list[float]
    """The costs in the file; they may cover only the first instances."""
    solutions: list[list[int]] | None
    """The actions ``[T]`` for each cost; None if only costs are published."""

    def by_key(self, problem: Problem) -> dict[str, float]:
        """Return the stated cost by the key of the instance."""
        return dict(zip(keys_of(self.instances, problem), self.costs, strict=False))


def stored(
    folder: Path, problem: Problem, distribution: str, size: int | None = None
) -> Stored | None:
    """Return a folder's references for the test set of a distribution; None if it has none.

    Of several sets of arrays, it is that of ``size`` nodes, or the first one by name if no size is
    given. A text file counts if its name has the number of nodes of the test set.

    Raises
    ------
    FileFormatError
        If a file has errors.
    """
    if not folder.is_dir():
        return None
    number = r"\d+" if size is None else str(size)
    for file in sorted(folder.glob(f"{problem.name}-{distribution}*.npz")):
        if re.fullmatch(rf"{problem.name}-{re.escape(distribution)}{number}", file.stem):
            return _arrays(file, problem)
    name = _OFFICIAL_NAMES.get(distribution, distribution)
    start = f"{problem.name.upper()}instances_{name}_"
    below = folder / problem.name.upper() / "generated_test_instances"
    pattern = f"{start}*_solution"
    if found := sorted([*folder.glob(pattern), *below.glob(pattern)]):
        instances = registry.testset(problem, distribution)
        n = problem.size(instances)
        for file in found:
            if size in (None, n) and file.name.startswith(f"{start}{n}_"):
                return _lines(file, instances)
    return None


def first_stored(folders: Sequence[Path], problem: Problem, distribution: str) -> Stored | None:
    """Return the references of the first folder that has any; None if no folder has."""
    found = (stored(folder, problem, distribution) for folder in folders)
    return next((each for each in found if each is not None), None)


def _arrays(file: Path, problem: Problem) -> Stored:
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            costs = np.asarray(archive["reference_cost"], dtype=np.float64).tolist()
            fields = npz.fields(problem).items()
            named = [name for name, needed in fields if needed or name in archive.files]
            instances = problem.instances(**npz.values({name: archive[name] for name in named}))
            _require_costs(costs)
    except READING as error:
        raise FileFormatError(f"{file}: expected instances and reference_cost ({error})") from error
    return Stored(file, instances, costs, None)


def _require_costs(costs: list[float]) -> None:
    if wrong := [cost for cost in costs if not (math.isfinite(cost) and cost >= 0)]:
        raise ValueError(f"expected costs of at least 0, got {wrong[0]}")


def _lines(file: Path, instances: Any) -> Stored:
    found = list(_solutions(file, records.rows(instances)))
    return Stored(file, instances, [cost for _, cost in found], [actions for actions, _ in found])


def _solutions(file: Path, most: int) -> Iterator[tuple[list[int], float]]:
    """Yield actions and cost of the first ``most`` lines."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise FileFormatError(f"{file}: cannot be read ({error.strerror})") from error
    for number, line in enumerate(text[:most], start=1):
        try:
            actions, cost, _ = line.split()
            _require_costs([float(cost)])
            yield [int(action) for action in actions.split(",")], float(cost)
        except ValueError as error:
            raise FileFormatError(
                f"{file}, line {number}: expected actions, cost and seconds, got {line!r:.60}"
            ) from error
