"""The run of preset `paper`: what it would take, the run in parts, and the paper's figures."""

import csv
import json
import time
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.api.estimate import estimate
from lifelong_co.api.learn import carry_out
from lifelong_co.api.stored import load
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config, read_config
from lifelong_co.errors import Interrupted
from lifelong_co.metrics import NAMES, summarize
from lifelong_co.runs.workplace import at_work
from lifelong_co.storage.appended import checked

PAPER = Path(__file__).parents[1] / "paper_orders.csv"
PROBLEM, ORDER = "cvrp", 1
# A run that should stop still has to save its buffer.
SAVING = 30.0
SMALL = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 8,
    "ff_hidden_dim": 16,
    "encoder_layer_num": 1,
}


def config(device: str, precision: str, tiny: bool) -> Config:
    """Return the configuration of the run: LLR-BC with POMO on the CVRP, the paper's order 1."""
    found = resolve(
        preset="paper", problem=PROBLEM, order=ORDER, device=device, precision=precision,
        solver_options=SMALL if tiny else None, tests=3 if tiny else None,
    )  # fmt: skip
    if not tiny:
        return found
    budget = {"epochs": 2, "batches": 2, "batch_size": 4, "last_batch_size": None}
    tasks = [attrs.evolve(task, size=4 + i, **budget) for i, task in enumerate(found.tasks[:3])]
    return attrs.evolve(found, tasks=tuple(tasks))


def minutes(device: str, precision: str, tiny: bool) -> dict[str, Any]:
    """Return what the whole run would take, from a few steps of each size."""
    found = estimate(config(device, precision, tiny))
    return {
        "steps": found.steps,
        "minutes of steps": round(found.training / 60, 1),
        "minutes of tests": round(found.testing / 60, 1),
        "seconds of a step": {f"{n} x {batch}": took for (n, batch), took in found.each.items()},
        "GiB of a full buffer": round((found.buffer or 0) / 2**30, 3),
    }


def run(folder: Path, device: str, precision: str, tiny: bool, seconds: float) -> dict[str, Any]:
    """Begin or continue the run for at most so many seconds; return how far it is.

    Saving once more, at the end, is part of the seconds.
    """
    end = time.monotonic() + (seconds if tiny else max(1.0, seconds - SAVING))
    resume = (folder / "config.toml").exists()
    chosen = read_config(folder) if resume else config(device, precision, tiny)
    try:
        with at_work(folder, new=not resume):
            carry_out(chosen, folder, resume=resume, stop=lambda: time.monotonic() > end)
    except Interrupted:
        pass
    return progress(folder)


def progress(folder: Path) -> dict[str, Any]:
    """Return how far the run in a folder is, its costs, and its metrics beside the paper's."""
    stored = load(folder)
    log = folder / "log.jsonl"
    epochs = [json.loads(line) for line in checked(log).splitlines()] if log.exists() else []
    learned, total = stored.learned, sum(task.epochs for task in stored.tasks)
    return {
        "finished": learned == len(stored.tasks),
        "precision": stored.config.precision,
        "epochs": len(epochs),
        "of": total,
        "seconds of epochs": sum(epoch["seconds"] for epoch in epochs),
        "costs": stored.costs,
        "table": beside_the_paper(stored.costs),
    }


def beside_the_paper(costs: list[list[float]]) -> list[dict[str, Any]]:
    """Return the metrics in 10^-3, after three and after six tasks, beside the paper's of order 1.

    d* is the lowest cost of this run; in the paper it is that of all methods, so its AP and APl
    are larger by what the other methods are better at.
    """
    with PAPER.open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["problem"], row["order"], row["method"]) == (PROBLEM, str(ORDER), "llr-bc")
        ]
    found = []
    for row in rows:
        k = int(row["k"])
        if k <= len(costs):
            ours = summarize([each[:k] for each in costs[:k]], definition="published")
            found += [
                {
                    "after": k,
                    "metric": name,
                    "ours": round(1e3 * getattr(ours, name), 2),
                    "paper": float(row[name]),
                }
                for name in NAMES
            ]
    return found
