"""Finding the inputs of a report: run folders and the results of benchmarks."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from lifelong_co.errors import ConfigError, LifelongError, explained
from lifelong_co.experiments.benchmark.results import FILE, Benchmark, read
from lifelong_co.experiments.comparison.runs import FinishedRun, in_one_place, load_run
from lifelong_co.experiments.paper import naming
from lifelong_co.experiments.paper.zero_shot import Start, read_start
from lifelong_co.runs.data_files import tested


@attrs.frozen
class Found:
    """The runs and benchmarks in some folders."""

    runs: tuple[FinishedRun, ...]
    benchmarks: tuple[Benchmark, ...]
    left_out: tuple[str, ...]
    """A line for each folder or file that could not be used, and for each run found twice."""
    starts: tuple[Start, ...] = ()
    """Solvers that have learned no task of a lifelong run."""


def collect(folders: Sequence[Path | str]) -> Found:
    """Read finished runs and benchmarks.

    Parameters
    ----------
    folders
        Run folders, folders of `lifelong-co benchmark --out`, or folders that contain them, for
        example that of a sweep. Unfinished runs in such a folder are not used. A run folder that is
        given directly must be finished. A folder with pretrained or imported parameters counts only
        if it is given directly, because it has to be tested.

    Raises
    ------
    ConfigError
        If a folder is missing, or holds nothing that can be used.
    FileFormatError
        If a file in a folder that is given directly has errors.
    """
    runs: dict[Path, FinishedRun] = {}
    benchmarks: dict[Path, Benchmark] = {}
    starts: dict[Path, Start] = {}
    left_out: list[str] = []
    for folder in map(Path, folders):
        if not folder.is_dir():
            what = "a file" if folder.exists() else "nothing"
            raise ConfigError(f"{folder}: expected a folder of runs, found {what}")
        start = read_start(folder)
        if start is not None:
            starts.setdefault(folder.resolve(), start)
            continue
        before = len(left_out)
        useful = False
        for place, names in _places(folder, lambda error: left_out.append(explained(error))):
            try:
                if "config.toml" in names:
                    runs.setdefault(place.resolve(), load_run(place))
                if FILE in names:
                    benchmarks.setdefault(place.resolve(), read(place))
                useful = True
            except (LifelongError, OSError) as error:
                if place == folder:
                    raise
                left_out.append(explained(error) if isinstance(error, OSError) else str(error))
        if not useful:
            found = left_out[before:]
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            reason = f"none of them can be used: {found[0]}{more}" if found else "found none"
            raise ConfigError(f"{folder}: expected finished runs in it, {reason}")
    if starts and not runs and not benchmarks:
        alone = next(iter(starts.values()))
        raise ConfigError(
            f"{alone.path}: expected finished runs on {alone.config.problem} beside it, whose test"
            " instances it solves, found none"
        )
    kept, twice = _distinct(runs.values())
    return Found(
        tuple(kept), tuple(benchmarks.values()), tuple(left_out + twice), tuple(starts.values())
    )


def _places(
    folder: Path, unreadable: Callable[[OSError], None]
) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folders that hold a run or a benchmark, and the names of their files."""
    seen: set[Path] = set()
    for path, below, names in os.walk(folder, onerror=unreadable, followlinks=True):
        if (real := Path(path).resolve()) in seen:  # a link can lead back
            below.clear()
            continue
        seen.add(real)
        if "sweep.toml" in names and "shared" in below:
            below.remove("shared")  # written by older versions: parts of runs, not whole runs
        below[:] = sorted(name for name in below if not name.startswith("."))
        if "config.toml" in names:
            below.clear()
        if {"config.toml", FILE} & set(names):
            yield Path(path), names


def _distinct(runs: Iterable[FinishedRun]) -> tuple[list[FinishedRun], list[str]]:
    """Return the runs that differ in configuration, seed or tests, and a line for each other."""
    kept: dict[tuple[object, ...], FinishedRun] = {}
    twice: list[str] = []
    for run in in_one_place(runs):
        content = tuple(tested(run.data, task) for task in run.config.tasks)
        key = (naming.identity(run.config), tuple(run.names), run.seed, content)
        if key in kept:
            twice.append(f"{run.path}: the same configuration and seed as {kept[key].path}")
        kept.setdefault(key, run)
    return list(kept.values()), twice
