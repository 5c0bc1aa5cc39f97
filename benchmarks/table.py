"""A sweep whose results are committed, so that another machine can continue it.

    python benchmarks/table.py [FILE] [--workers 2] [--runs DIR] [--results DIR]

It copies the stored runs, does the others with `lifelong-co sweep`, and stores all finished runs,
even if it is interrupted. FILE is benchmarks/table.toml by default; the folders have the name of
the file without ``.toml``.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from grid import keep

from lifelong_co.experiments.comparison.publish import write_run_report

HERE = Path(__file__).parent


def take_up(results: Path, runs: Path) -> None:
    """Copy the stored runs to the sweep's folder as finished runs."""
    for stored in sorted(results.glob("runs/*")):
        folder = runs / "runs" / stored.name
        if not (folder / "report.html").exists():
            shutil.copytree(stored, folder, dirs_exist_ok=True)
            write_run_report(folder)


def store(runs: Path, results: Path) -> None:
    """Keep the small final files of the finished runs, and the tables."""
    for report in sorted(runs.glob("runs/*/report.html")):
        keep(report.parent, results / "runs" / report.parent.name)
    for table in sorted(runs.glob("table.*")):
        shutil.copy(table, results / table.name)


def main() -> int:
    """Return the exit status of the sweep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=HERE / "table.toml")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=Path, help="default: runs/NAME, for FILE NAME.toml")
    parser.add_argument("--results", type=Path, help="default: benchmarks/results/NAME")
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
        except KeyboardInterrupt:  # the sweep gets it, too, and saves its runs
            continue
    store(runs, results)
    return status


if __name__ == "__main__":
    sys.exit(main())
