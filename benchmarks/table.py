"""A study from its file to its table: the runs that are not stored, and all tables.

    python benchmarks/table.py FILE [--workers 2] [--device cuda] [--only-print]

FILE is a file of grids in this folder, e.g. benchmarks/methods.toml. Stored are its runs in
results/NAME.csv, with all their tests (`tidy`). Interrupted at any time, it stores the finished
runs; the same command goes on. ``--only-print`` prints the tables of the stored runs.
"""

import argparse
import sys
from pathlib import Path

import tidy
from lifelong_co_cli.system import stop_on_signal
from study import HERE, Study

from lifelong_co.errors import Interrupted, LifelongError
from lifelong_co.experiments.sweep.conduct import conduct, locked
from lifelong_co.experiments.sweep.engines import LocalEngine
from lifelong_co.experiments.sweep.table import as_text
from lifelong_co.runs import provenance
from lifelong_co.tensors.device import chosen_device


def do_missing(study: Study, workers: int) -> int:
    """Do the runs that are not stored and store them; return the exit status."""
    plan = study.missing()
    print(f"{len(plan.jobs)} of {len(study.plan.jobs)} runs to do, in {plan.folder}", flush=True)
    stored = {lines[0]["commit"] for lines in study.lines().values()}
    if plan.jobs and (others := stored - {tidy.commit(provenance.present("cpu"))}):
        print(
            f"note: the stored runs are of another commit, {', '.join(sorted(others))}", flush=True
        )

    def log(line: str) -> None:
        print(line, flush=True)
        if line.startswith("finished"):
            study.store(job.folder for job in plan.jobs.values() if job.finished)

    with locked(plan.folder) as lock, stop_on_signal() as stop:
        try:
            failed = conduct(plan, LocalEngine(workers, [], lock), stop=stop, log=log)
        except Interrupted:
            print("interrupted; the same command goes on")
            return int(stop.status)
        finally:
            study.store(job.folder for job in plan.jobs.values() if job.finished)
    return 1 if failed else 0


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: that of FILE")
    parser.add_argument("--runs", type=Path, help="default: runs/NAME, for FILE NAME.toml")
    parser.add_argument("--results", type=Path, help="default: benchmarks/results/NAME.csv")
    parser.add_argument("--only-print", action="store_true")
    options = parser.parse_args()
    try:
        chosen_device(options.device or "auto", "--device")
    except LifelongError as error:
        parser.error(str(error))
    name = options.file.stem
    study = Study(
        options.file,
        options.results or HERE / "results" / f"{name}.csv",
        options.runs or Path("runs") / name,
        options.device,
    )
    status = 0 if options.only_print else do_missing(study, options.workers)
    print(as_text(study.results()), end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
