"""A run of many tiny tasks: steps per second, memory and disk at every tenth of the way.

    python benchmarks/soak.py [--tasks 300] [--costs measured|invented] [--out DIR]

Memory and disk should grow with the cost matrix alone, which has a row and a column for each task:
`costs.csv` has all of it, `metrics.json` the same numbers again, and `checkpoints/` a third copy.
All else should grow by the same amount with each task. With `--costs invented` the tests take no
time, so that far more tasks fit in an hour; everything else is as in a real run.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from lifelong_co import learner
from lifelong_co.config.run_config import Config
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.tasks.task import Task

MODEL = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 8,
    "encoder_layer_num": 1,
    "ff_hidden_dim": 16,
}
HEADER = "tasks  minutes  steps/s  RSS MiB   matrix MiB  other MiB  other KiB/task"
MEBI = 2**20


def configuration(tasks: int) -> Config:
    """Return a run of LLR-BC on tasks of five nodes, one step each, with one test instance."""
    task = {"distribution": "U", "size": 5, "epochs": 1, "batches": 1, "batch_size": 4}
    return Config(
        solver="pomo",
        problem="tsp",
        method="llr-bc",
        preset="soak",
        order="soak",
        seed=0,
        device="cpu",
        tests=1,
        curve_every=1,
        solver_options=MODEL,
        method_options={"buffer_size": 64, "replay_size": 4},
        tasks=tuple(Task(**task, name=f"T{number}") for number in range(1, tasks + 1)),
    )


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def sizes(folder: Path) -> tuple[float, float]:
    """Return the MiB of the files that hold costs, and of all others."""
    costs = others = 0
    for path in folder.rglob("*"):
        if path.is_file():
            size = path.stat().st_size
            if path.name in ("costs.csv", "metrics.json"):
                costs += size
            else:
                others += size
    return costs / MEBI, others / MEBI


def main() -> None:
    """Learn all tasks and print a line at every tenth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--costs", choices=["measured", "invented"], default="measured")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="soak-")) / "run"
    if options.costs == "invented":
        learner.mean_cost = lambda *_, **__: 2.0  # type: ignore[assignment]
    run = prepare(configuration(options.tasks), folder)
    began = last = time.perf_counter()
    tenth = max(1, options.tasks // 10)
    print(HEADER)

    def show(run: Run, losses: object) -> None:  # noqa: ARG001
        nonlocal last
        if run.steps % tenth == 0:
            now = time.perf_counter()
            matrix, others = sizes(folder)
            print(
                f"{run.steps:5}  {(now - began) / 60:7.1f}  {tenth / (now - last):7.2f}"
                f"  {resident():7.0f}  {matrix:11.2f}  {others:9.2f}"
                f"  {others * 1024 / run.steps:14.1f}",
                flush=True,
            )
            last = now

    learner.learn(run, on_step=show)
    matrix, others = sizes(folder)
    print(f"end: RSS {resident():.0f} MiB, matrix {matrix:.2f} MiB, other {others:.2f} MiB")
    if options.out is None:
        shutil.rmtree(folder.parent)


if __name__ == "__main__":
    main()
