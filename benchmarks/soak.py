"""A run of many tiny tasks: minutes, memory and disk at every tenth of the way.

    python benchmarks/soak.py [--tasks 10000] [--tests-after next|all] [--out DIR]
        [--json FILE]

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

from measurement import about, store

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
HEADER = "     tasks  minutes  RSS MiB  costs MiB  other MiB"
MEBI = 2**20


def configuration(tasks: int, tests_after: str) -> Config:
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
    """Learn all tasks, print a line at every tenth, and write the lines as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--tests-after", choices=["next", "all"], default="next")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    made, figures = about(), []
    folder = options.out or Path(tempfile.mkdtemp(prefix="soak-")) / "run"
    run = prepare(configuration(options.tasks, options.tests_after), folder)
    began = time.perf_counter()
    tenth = max(1, options.tasks // 10)
    print(HEADER)

    def note(what: str) -> None:
        minutes, memory = (time.perf_counter() - began) / 60, resident()
        costs, others = sizes(folder)
        print(f"{what:>10} {minutes:8.1f} {memory:8.0f} {costs:10.2f} {others:10.2f}", flush=True)
        of_disk = {"costs_mib": costs, "other_mib": others}
        figures.append({"what": what, "minutes": minutes, "memory_mib": memory, **of_disk})

    def show(run: Run, losses: object) -> None:  # noqa: ARG001
        if run.steps % tenth == 0:
            note(f"{run.steps:,}")

    learner.learn(run, on_step=show)
    note("all tested")
    page = write_run_report(folder)
    note("report")
    print(f"report.html: {page.stat().st_size / MEBI:.2f} MiB")
    store(options.json, {**made, "report_mib": page.stat().st_size / MEBI}, figures)
    if options.out is None:
        shutil.rmtree(folder.parent)


if __name__ == "__main__":
    main()
