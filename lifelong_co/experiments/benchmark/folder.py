"""Reading the instances of a folder, with the best known cost of each."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.errors import ConfigError, FileFormatError, UnknownNameError
from lifelong_co.experiments.benchmark.known import known_of
from lifelong_co.experiments.benchmark.published import LIBRARIES
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.formats import has_suffix, read_file, suffixes


@attrs.frozen(eq=False)
class Folder:
    """The instances of a folder."""

    instances: list[FileInstance]
    """In the order of the paper, or from small to large; with ``best_known`` if it is known."""
    refused: list[str]
    """One line for each file that cannot be used: its name and the reason."""
    faults: list[str] = attrs.field(factory=list)
    """One line for each instance whose best known cost could not be read."""


def read_folder(
    library: str,
    folder: Path,
    *,
    paper: bool = False,
    largest: int | None = None,
    references: Path | None = None,
) -> Folder:
    """Read the instance files of a folder.

    Parameters
    ----------
    library
        ``tsplib``, ``cvrplib``, or a problem with a file format.
    folder
        The folder; files in its subfolders are not read.
    paper
        Whether to read only the paper's instances; all of them must be there. Only for TSPLIB and
        CVRPLIB.
    largest
        Highest number of nodes or customers; None: no limit.
    references
        Folder of references; see `known.known_of`.

    Raises
    ------
    ConfigError
        If no file can be used, two files have one name without their suffixes, or one of the
        paper's instances is missing.
    UnknownNameError
        If the library is unknown.
    """
    problem, suffix, papers = _library(library)
    if paper and not papers:
        raise ConfigError(f"paper: expected tsplib or cvrplib, got {library}")
    if not folder.is_dir():
        raise ConfigError(f"{folder}: expected a folder with {suffix} files, found none")
    endings = suffixes(problem)
    files = sorted(
        path for path in folder.iterdir() if has_suffix(path, endings) and path.is_file()
    )
    if paper:
        missing = [name for name in papers if folder / f"{name}{suffix}" not in files]
        if missing:
            raise ConfigError(f"{folder}: expected the paper's instances, without: {_few(missing)}")
        files = [folder / f"{name}{suffix}" for name in papers]
    instances: list[FileInstance] = []
    used: dict[str, Path] = {}  # by the name of the instance, which results are kept under
    refused: list[str] = []
    faults: list[str] = []
    larger: list[int] = []
    for file in files:
        try:
            one = attrs.evolve(read_file(file, problem), name=file.stem)
        except FileFormatError as error:
            refused.append(str(error))
            continue
        if one.problem != problem:
            refused.append(f"{file}: expected an instance of {problem}, got one of {one.problem}")
        elif largest is not None and one.size > largest:
            larger.append(one.size)
        else:
            other = used.setdefault(file.stem, file)
            if other != file:
                raise ConfigError(
                    f"{folder}: expected one file for the name {file.stem},"
                    f" got {other.name} and {file.name}"
                )
            known = known_of(file, one, references, faults.append)
            instances.append(attrs.evolve(one, best_known=known))
    if not instances:
        reason = f" ({refused[0]})" if refused else ""
        if larger:
            reason = f" of at most {largest} nodes or customers; the smallest has {min(larger)}"
        raise ConfigError(f"{folder}: expected at least one usable {suffix} file, got none{reason}")
    order = instances if paper else sorted(instances, key=lambda one: (one.size, one.name))
    return Folder(order, refused, faults)


def _library(name: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the problem, the suffix of the files, and the paper's instances of a library."""
    if name in LIBRARIES:
        return LIBRARIES[name]
    covered = {problem for problem, _, _ in LIBRARIES.values()}
    others = [problem for problem in registry.names("file_format") if problem not in covered]
    if name not in others:
        raise UnknownNameError("library", name, (*LIBRARIES, *others))
    return name, " or ".join(suffixes(name)), ()


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
