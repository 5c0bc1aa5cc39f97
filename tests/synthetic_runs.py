"""Finished run folders with invented costs, written by the code that writes real ones."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.sweep.grid import Grid
from lifelong_co.experiments.sweep.plan import Plan, make_plan
from lifelong_co.runs.costs import Cost
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.journal import Journal
from lifelong_co.tasks.task import Task

LEVEL = {"": 6.5, "U": 6.5, "R": 5.0, "E": 10.4, "G": 11.0, "C": 14.6, "GM": 12.7}
SIZE = {"U": 10, "R": 10, "E": 20, "G": 20, "C": 40, "GM": 40}
FORGETS = {
    "fine-tuning": 0.03,
    "llr-bc": 0.001,
    "restart": 0.15,
    "ewc": 0.02,
    "multi-task-epoch": 0,
}


def config(
    method: str = "llr-bc",
    distributions: tuple[str, ...] = ("E", "C", "U"),
    *,
    epochs: int = 4,
    task: dict[str, Any] | None = None,
    **settings: Any,
) -> Config:
    """Return a configuration; `task` overrides fields of the first task."""
    tasks: list[dict[str, Any]] = [
        {"distribution": name, "size": SIZE[name], "epochs": epochs, "batches": 2, "batch_size": 4}
        for name in distributions
    ]
    tasks[0] |= task or {}
    defaults: dict[str, Any] = {
        "solver": "pomo",
        "problem": "cvrp",
        "preset": "small",
        "order": "1",
        "seed": 0,
        "device": "cpu",
        "tests": 64,
        "curve_every": 1,
        "method_options": {"alpha": 100.0} if method == "llr-bc" else {},
    }
    return Config(method=method, tasks=tuple(Task(**it) for it in tasks), **(defaults | settings))


def costs(of: Config) -> list[Cost]:
    """Invent costs: each task is learned exponentially, and forgotten at the rate of the method."""
    found = []
    count = len(of.tasks)
    for learning, task in enumerate(of.tasks, start=1):
        for epoch in range(1, task.epochs + 1):
            if epoch % of.curve_every and epoch < task.epochs:
                continue
            last = count if epoch == task.epochs else learning
            for tested in range(1, last + 1):
                gap = _gap(of, learning, epoch, tested)
                level = LEVEL[of.tasks[tested - 1].distribution]
                found.append(
                    Cost(learning, epoch, tested, of.tasks[tested - 1].label, level * (1 + gap))
                )
    return found


def _gap(of: Config, learning: int, epoch: int, tested: int) -> float:
    progress = epoch / of.tasks[learning - 1].epochs
    wobble = 0.002 * (1 + math.sin(1.7 * of.seed + 3 * tested + 5 * learning + epoch))
    if tested == learning:
        return 0.12 * math.exp(-4 * progress) + wobble
    if tested > learning:
        return 0.05 + wobble
    forgotten = FORGETS[of.method] * (learning - tested + math.exp(-3 * progress))
    return forgotten + wobble


def write(folder: Path, of: Config, *, log: bool = True) -> Path:
    """Write a finished run folder and return it."""
    run = RunFolder(folder)
    run.create(of)
    record(run, of, costs(of), 1.5 if log else None)
    return folder


def record(run: RunFolder, of: Config, found: list[Cost], seconds: float | None) -> None:
    """Write the costs and the metrics, and a log if the seconds of an epoch are given."""
    journal = Journal(run)
    journal.add_costs(found)
    for i, task in enumerate(of.tasks, start=1):
        for epoch in range(1, task.epochs + 1) if seconds else ():
            journal.add_epoch({"learning": i, "epoch": epoch, "seconds": seconds})
    journal.write()
    run.write_metrics(of)
    if not seconds:
        for file in run.path.glob("log.jsonl*"):
            file.unlink()


def finish(folder: Path, shift: Callable[[Cost], float] = lambda cost: cost.cost) -> None:
    """Finish a run of any method, whose folder holds its configuration, with invented costs."""
    run = RunFolder(folder)
    config = run.config()
    # Only three methods have invented costs.
    like = attrs.evolve(config, method="llr-bc")
    found = [attrs.evolve(cost, cost=shift(cost)) for cost in costs(like)]
    record(run, config, found, 2.0)
    (folder / "report.html").write_text("")
    steps = sum(task.epochs * task.batches for task in config.tasks)
    run.checkpoints.mkdir(exist_ok=True)
    (run.checkpoints / f"checkpoint-{steps:08d}.safetensors").touch()


def two_orders(folder: Path, *methods: str, name: str = "") -> Plan:
    """Plan a sweep of methods over U5 and E5 in both orders, with two seeds; nothing runs."""
    for number, tasks in enumerate((("U", "E"), ("E", "U")), start=1):
        text = "epochs = 2\nbatches = 1\nbatch_size = 2\n"
        text += "".join(f'[[tasks]]\ndistribution = "{one}"\nsize = 5\n' for one in tasks)
        (folder / f"order{number}.toml").write_text(text)
    grid = Grid(
        name=name,
        methods=methods,
        tasks=tuple(str(folder / f"order{number}.toml") for number in (1, 2)),
        seeds="0-1",
        device="cpu",
        tests=4,
        curve_every=2,
    )
    return make_plan([grid], folder / "sweep")
