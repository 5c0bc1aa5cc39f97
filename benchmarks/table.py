"""A sweep whose results are committed, so that another machine goes on where one stopped.

    python benchmarks/table.py [FILE] [--workers 2] [--runs DIR] [--results DIR]

Takes up the stored runs, does the others by `lifelong-co sweep`, and stores what finishes, also
when it is interrupted. FILE is benchmarks/table.toml unless given; its stem names the folders.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from grid import KEPT

from lifelong_co.experiments.comparison.publish import write_run_report

HERE = Path(__file__).parent


def take_up(results: Path, runs: Path) -> None:
    """Put the stored runs where the sweep looks for them, finished."""
    for stored in sorted(results.glob("runs/*")):
        folder = runs / "runs" / stored.name
        if not (folder / "report.html").exists():
            shutil.copytree(stored, folder, dirs_exist_ok=True)
            write_run_report(folder)


def store(runs: Path, results: Path) -> None:
    """Keep what is small and final of the finished runs, and the tables."""
    for report in sorted(runs.glob("runs/*/report.html")):
        kept = results / "runs" / report.parent.name
        kept.mkdir(parents=True, exist_ok=True)
        for file in KEPT:
            shutil.copy(report.parent / file, kept / file)
    for table in sorted(runs.glob("table.*")):
        shutil.copy(table, results / table.name)


def main() -> int:
    """Return the exit status of the sweep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=HERE / "table.toml")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=Path, help="default: runs/ and the file's stem")
    parser.add_argument("--results", type=Path, help="default: benchmarks/results/ and the stem")
    options = parser.parse_args()
    runs = options.runs or Path("runs") / options.file.stem
    results = options.results or HERE / "results" / options.file.stem
    take_up(results, runs)
    command = [sys.executable, "-m", "lifelong_co_cli.main", "sweep", str(options.file)]
    command += ["--out", str(runs), "--workers", str(options.workers)]
    sweep = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while True:
        try:
            status = sweep.wait()
            break
        except KeyboardInterrupt:  # the sweep got it, too: it is saving
            continue
    store(runs, results)
    return status


if __name__ == "__main__":
    sys.exit(main())
