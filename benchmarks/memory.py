"""The peak memory of runs of preset `paper` with a full buffer, each in a process of its own.

    python benchmarks/memory.py [--methods llr-bc fine-tuning] [--problem cvrp] [--size 100]
        [--threads 2] [--json FILE]

A run has four tasks of ten batches, each of another distribution. Every batch is recorded, so at
100 nodes the buffer is full after nine.
"""

import argparse
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import attrs
import official
import torch
from measurement import about, store

from lifelong_co.config.resolve import resolve
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start
from lifelong_co.tasks.task import Task


def peak() -> float:
    """Return the peak memory of this process in MiB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def peak_of(method: str, problem: str, size: int, threads: int) -> float:
    """Learn the tasks, print the peak after each test and return the last, in MiB."""
    torch.set_num_threads(threads)
    config = resolve(method=method, preset="paper", problem=problem, device="cpu")
    shape = {"size": size, "epochs": 1, "batches": 10, "batch_size": official.BATCH[size]}
    tasks = tuple(Task(distribution=name, **shape) for name in ("U", "GM", "E", "C"))
    with tempfile.TemporaryDirectory() as folder:
        run = start(attrs.evolve(config, tasks=tasks, tests=64), RunFolder(Path(folder)))
        learn(run, log=lambda line: print(f"{peak():6.0f} MiB  {line}", flush=True))
    return peak()


def main() -> None:
    """Print the peaks, and write them as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=["llr-bc", "fine-tuning"])
    parser.add_argument("--problem", default="cvrp", choices=("cvrp", "tsp"))
    parser.add_argument("--size", type=int, default=100, choices=official.BATCH)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    made, figures = about(), []
    for method in options.methods:
        problem, n = options.problem, options.size
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            mib = process.submit(peak_of, method, problem, n, options.threads).result()
        print(f"{method}: {mib:.0f} MiB")
        figures.append({"method": method, "problem": problem, "n": n, "mib": round(mib)})
    store(options.json, made, figures)


if __name__ == "__main__":
    main()
