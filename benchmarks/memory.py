"""The peak memory of a run of preset `paper` with a full buffer.

    python benchmarks/memory.py [--method llr-bc] [--problem cvrp] [--size 100] [--threads 2]

The run has four tasks of ten batches, each of another distribution. Every batch is recorded, so at
100 nodes the buffer is full after nine.
"""

import argparse
import tempfile
from pathlib import Path

import attrs
import official
import torch

from lifelong_co.config.run_config import resolve
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start
from lifelong_co.tasks.task import Task


def peak() -> float:
    """Return the peak memory of this process in MiB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Learn the tasks and print the peak after each test."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="llr-bc")
    parser.add_argument("--problem", default="cvrp", choices=("cvrp", "tsp"))
    parser.add_argument("--size", type=int, default=100, choices=official.BATCH)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    config = resolve(method=options.method, preset="paper", problem=options.problem, device="cpu")
    shape = {"size": options.size, "epochs": 1, "batches": 10}
    shape["batch_size"] = official.BATCH[options.size]
    tasks = tuple(Task(distribution=name, **shape) for name in ("U", "GM", "E", "C"))
    with tempfile.TemporaryDirectory() as folder:
        run = start(attrs.evolve(config, tasks=tasks, tests=64), RunFolder(Path(folder)))
        learn(run, log=lambda line: print(f"{peak():6.0f} MiB  {line}", flush=True))


if __name__ == "__main__":
    main()
