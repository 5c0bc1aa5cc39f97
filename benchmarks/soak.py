"""A run of many tiny tasks: steps per second, memory and disk at every tenth of the way.

    python benchmarks/soak.py [--tasks 10000] [--tests-after next|all] [--out DIR]

With `next`, only the present task and the next one are tested after each task, and all at the end.
Then every file should grow by the same amount with each task, and memory hardly at all. With `all`,
the cost matrix has a cell for each pair of tasks, so `costs.csv`, its copy in `checkpoints/`,
`metrics.json`, and the time of the tests grow with the square of the number of tasks.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from lifelong_co import learner
from lifelong_co.config.run_config import Config
from lifelong_co.experiments.comparison.publish import write_run_report
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
HEADER = "tasks  minutes  steps/s  RSS MiB    costs MiB  other MiB  other KiB/task"
MEBI = 2**20


def configuration(tasks: int, tests_after: str = "all") -> Config:
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
        tests_after=tests_after,
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
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--tests-after", choices=["next", "all"], default="next")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="soak-")) / "run"
    run = prepare(configuration(options.tasks, options.tests_after), folder)
    began = last = time.perf_counter()
    tenth = max(1, options.tasks // 10)
    print(HEADER)

    def show(run: Run, losses: object) -> None:  # noqa: ARG001
        nonlocal last
        if run.steps % tenth == 0:
            now = time.perf_counter()
            costs, others = sizes(folder)
            print(
                f"{run.steps:5}  {(now - began) / 60:7.1f}  {tenth / (now - last):7.2f}"
                f"  {resident():7.0f}  {costs:11.2f}  {others:9.2f}"
                f"  {others * 1024 / run.steps:14.1f}",
                flush=True,
            )
            last = now

    learner.learn(run, on_step=show)
    costs, others = sizes(folder)
    minutes = (time.perf_counter() - began) / 60
    print(
        f"end, after {minutes:.1f} minutes: RSS {resident():.0f} MiB, costs {costs:.2f} MiB,"
        f" other {others:.2f} MiB"
    )
    page = write_run_report(folder)
    seconds = time.perf_counter() - began - 60 * minutes
    print(
        f"report.html: {page.stat().st_size / MEBI:.2f} MiB in {seconds:.0f} s,"
        f" RSS {resident():.0f} MiB"
    )
    if options.out is None:
        shutil.rmtree(folder.parent)


if __name__ == "__main__":
    main()
