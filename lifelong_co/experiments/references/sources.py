"""The instances for which references can be found: drawn, published, of a run, from files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.references.subject import Subject, of_file, of_instances
from lifelong_co.instance_files.closed_routes import refuse_other_costs
from lifelong_co.instance_files.formats import has_suffix, read_file, suffixes
from lifelong_co.instance_files.pool import load_instances
from lifelong_co.protocols import Problem
from lifelong_co.tasks.instances import stream_of_tests, testing


def from_distribution(
    name: str, problem: Problem, size: int, count: int, seed: int = 0
) -> list[Subject]:
    """Draw instances; with seed 0 they are the test instances of a task with ``tests = count``.

    The paper's 1,000 test instances of a distribution are `from_testset` instead.
    """
    source = registry.distribution(name, problem)
    stream = stream_of_tests(problem, name, size, seed)
    return of_instances(source.sample(count, size, generator=stream), problem, f"{name}{size}")


def from_testset(name: str, problem: Problem, count: int | None = None) -> list[Subject]:
    """Return the first ``count`` of the paper's test instances of a distribution; None: all."""
    instances = registry.testset(problem, name)
    return of_instances(instances, problem, f"{name}{problem.size(instances)}")[:count]


def from_run(config: Config) -> list[Subject]:
    """Return all test instances of a run."""
    problem = registry.problem(config.problem)
    return [
        subject
        for task in config.tasks
        for group in testing(task, problem, config.tests)
        for subject in of_instances(group, problem, task.label)
    ]


def from_files(
    path: Path,
    problem: Problem,
    *,
    scaled: bool = False,
    log: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> list[Subject]:
    """Return the instances of an ``.npz`` file or of files of a problem's format.

    Parameters
    ----------
    path
        An ``.npz`` file, a file such as TSPLIB's ``.tsp``, or a folder of those. The ``.npz`` files
        of a folder are read only if ``scaled``.
    problem
        The problem of an ``.npz`` file. In a folder only instances of this problem count, if there
        are any.
    scaled
        Whether files of a format are scaled to the unit square without rounding, as in
        the tests of tasks. Else the distances are rounded as the file says. An ``.npz`` file is
        scaled as in a task with ``scale``; in a folder, if it is not in the unit square.
    log
        Called with a line for each file of a folder that cannot be used; the others are read.

    Raises
    ------
    ConfigError
        If there are no such files.
    FileFormatError
        If the file, or each file of the folder, has errors.
    """
    if has_suffix(path, (".npz",)) or scaled:
        groups = _loaded(path, problem, scaled)
        return [
            one
            for group in groups
            for one in of_instances(group, problem, f"{path.stem}, size {problem.size(group)},")
        ]
    known = suffixes(problem.name)
    files, others = [path], []
    if path.is_dir():
        inside = sorted(path.iterdir())
        files = [file for file in inside if has_suffix(file, known)]
        others = [(file, owners) for file in inside if (owners := _owners(file, known))]
    if not files or not files[0].exists():
        wanted = f"{' or '.join(known)} files, as {problem.name} has"
        came = [f"{file.name} of {owners}" for file, owners in others]
        raise ConfigError(
            f"{path}: expected a file or a folder with {wanted}, found {(came or ['none'])[0]}"
        )
    for file, owners in others:
        log(f"left out: {file}: expected a file of {problem.name}, got one of {owners}")
    found: dict[Path, Subject] = {}
    faults: list[FileFormatError] = []
    for file in files:
        try:
            found[file] = of_file(read_file(file, problem.name))
        except FileFormatError as error:
            faults.append(error)
    if not found:
        raise faults[0]
    for fault in faults:
        log(f"left out: {fault}")
    own = {file: one for file, one in found.items() if one.problem == problem.name} or found
    for file, one in found.items():
        if file not in own:
            reason = f"expected an instance of {problem.name}, got one of {one.problem}"
            log(f"left out: {file}: {reason}")
    if (first := read_file(next(iter(own)), problem.name)).problem == problem.name:
        refuse_other_costs(first, problem)
    return list(own.values())


def _owners(file: Path, known: Sequence[str]) -> str:
    """Return the problems that have files of this suffix; empty if it is one of the known."""
    if has_suffix(file, known):
        return ""
    names = registry.names("file_format")
    return " or ".join(name for name in names if has_suffix(file, suffixes(name)))


def _loaded(path: Path, problem: Problem, scaled: bool) -> list[Any]:
    try:
        return load_instances(path, problem, scale=scaled and has_suffix(path, (".npz",)))
    except FileFormatError:
        if not scaled:
            raise
        return load_instances(path, problem, scale=True)  # a folder whose .npz files have units
