"""Finds what a report can be made of: run folders, and what benchmarks have left."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.benchmark.results import FILE, Benchmark, read
from lifelong_co.experiments.comparison.labels import identity
from lifelong_co.experiments.comparison.runs import Run, load_run


@attrs.frozen
class Found:
    """What some folders hold."""

    runs: tuple[Run, ...]
    benchmarks: tuple[Benchmark, ...]
    left_out: tuple[str, ...]
    """A line for each thing that could not be used, or is there twice."""


def collect(folders: Sequence[Path | str]) -> Found:
    """Read finished runs and benchmarks.

    Parameters
    ----------
    folders
        Run folders, folders of `lifelong-co benchmark --out`, or any folder above such, e.g. a
        sweep's. Runs below a folder that are not finished are left out, as are a sweep's shared
        first parts; a run folder given itself has to be finished.

    Raises
    ------
    ConfigError
        If a folder is missing, or holds nothing that can be used.
    FileFormatError
        If a file of a folder given itself cannot be understood.
    """
    runs: dict[Path, Run] = {}
    benchmarks: dict[Path, Benchmark] = {}
    left_out: list[str] = []
    for folder in map(Path, folders):
        if not folder.is_dir():
            what = "a file" if folder.exists() else "nothing"
            raise ConfigError(f"{folder}: expected a folder of runs, found {what}")
        before = len(left_out)
        useful = False
        for place, names in _places(folder):
            try:
                if "config.toml" in names:
                    runs.setdefault(place.resolve(), load_run(place))
                if FILE in names:
                    benchmarks.setdefault(place.resolve(), read(place))
                useful = True
            except (ConfigError, FileFormatError) as error:
                if place == folder:
                    raise
                left_out.append(str(error))
        if not useful:
            found = left_out[before:]
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            reason = f"none of those there can be used: {found[0]}{more}" if found else "found none"
            raise ConfigError(f"{folder}: expected finished runs in it, {reason}")
    kept, twice = _distinct(runs.values())
    return Found(tuple(kept), tuple(benchmarks.values()), tuple(left_out + twice))


def _places(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folders that hold a run or a benchmark, and the names of their files."""
    for path, below, names in os.walk(folder):
        if "sweep.toml" in names and "shared" in below:
            below.remove("shared")  # of the last version: parts of runs that look like runs
        below[:] = sorted(name for name in below if not name.startswith("."))
        if "config.toml" in names:
            below.clear()
        if {"config.toml", FILE} & set(names):
            yield Path(path), names


def _distinct(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    kept: dict[tuple[str, int], Run] = {}
    twice: list[str] = []
    for run in runs:
        key = (identity(run.config), run.config.seed)
        if key in kept:
            twice.append(f"{run.path}: the same configuration and seed as {kept[key].path}")
        kept.setdefault(key, run)
    return list(kept.values()), twice
