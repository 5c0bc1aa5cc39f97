"""The runs of a table: each is done once, resumed if interrupted, and its small files are kept."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs

KEPT = (
    *("config.toml", "metrics.json", "provenance.json"),
    *("costs.csv", "costs.csv.sha256", "log.jsonl", "log.jsonl.sha256"),
)
"""The small final files of a run; runs of earlier versions lack some of them."""


def keep(run: Path, kept: Path) -> None:
    """Copy the small final files of a run to a folder, which may be missing."""
    kept.mkdir(parents=True, exist_ok=True)
    for file in KEPT:
        if (run / file).exists():
            shutil.copy(run / file, kept / file)


@attrs.frozen
class Grid:
    """The folders for the runs of a table."""

    runs: Path
    """Whole run folders; not committed."""
    results: Path
    """The small final files of each run; `lifelong-co compare` reads them as a run folder."""

    def complete(self, name: str, arguments: list[str], command: str = "run") -> Path:
        """Do one run unless its results exist; return its folder."""
        kept, folder = self.results / name, self.runs / name
        if kept.exists():
            return folder
        if (folder / "config.toml").exists():
            arguments = ["--resume", str(folder)]
        else:
            arguments = [*arguments, "--device", "cpu", "--out", str(folder)]
        print("lifelong-co", command, *arguments, flush=True)
        subprocess.run(
            [sys.executable, "-m", "lifelong_co_cli.main", command, *arguments],
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
        )
        fresh = folder / "kept"
        keep(folder, fresh)
        self.results.mkdir(parents=True, exist_ok=True)
        shutil.move(fresh, kept)
        return folder

    def complete_all(self, jobs: Iterable[tuple[str, list[str]]], workers: int) -> None:
        """Do several runs, ``workers`` at the same time, each with one thread."""
        with ThreadPoolExecutor(workers) as pool:
            for job in [pool.submit(self.complete, *job) for job in jobs]:
                job.result()

    def compare(self, names: Iterable[str]) -> None:
        """Print the table of the given runs."""
        folders = [str(self.results / name) for name in names]
        compare = [sys.executable, "-m", "lifelong_co_cli.main", "compare", *folders]
        subprocess.run(compare, check=True)
