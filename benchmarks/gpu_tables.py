"""Tables of `results/gpu.json`, which `gpu.py` wrote on a GPU."""

import json
from typing import Any

from measurement import RESULTS
from speed_tables import rows_of, sheet

from lifelong_co.experiments.sheet import Sheet, words

FIGURES = ("cost", "likelihood", "gradient")


def jobs(piece: str) -> dict[str, dict[str, Any]]:
    """Return the finished jobs of a piece by name."""
    stored = json.loads((RESULTS / "gpu.json").read_text(encoding="utf-8"))
    found = stored["pieces"][piece]["jobs"]
    return {name: job for name, job in found.items() if job["state"] == "done"}


def made(piece: str) -> str:
    """Return the commits of a piece, and the machine."""
    about = json.loads((RESULTS / "gpu.json").read_text(encoding="utf-8"))["about"]
    commits = sorted({job["commit"] for job in jobs(piece).values()})
    return (
        f"Commit{'s' * (len(commits) > 1)} {' and '.join(commits)}, {about['gpu']} with "
        f"{about['threads']} threads of {about['cpu']}, torch {about['torch']}."
    )


def checks() -> Sheet:
    """Return the largest differences from the CPU: a row for each solver and precision."""
    rows, resumed = [], []
    for name, job in jobs("correctness").items():
        if name.startswith("resumed"):
            resumed += job["result"]["checks"]
            continue
        for precision, of in rows_of(job["result"]["checks"], "precision").items():
            if precision == "bfloat16":  # graphs beside no graphs: nothing of the CPU
                continue
            largest = (f"{max(check[figure] or 0 for check in of):.0e}" for figure in FIGURES)
            same = min(check["actions"] for check in of)
            rows.append(words(name, precision, str(len(of)), f"{same:.1%}", *largest))
    header = ("", "precision", "comparisons", "same actions", "cost", "log-likelihood", "gradient")
    difference = max(check["difference"] for check in resumed)
    note = (
        "The largest relative differences, of trajectories with the same actions. Costs of "
        f"{len(resumed)} runs that were stopped and resumed differ by at most {difference:g} from "
        f"those of whole runs. {made('correctness')}"
    )
    return sheet("gpu checks", header, rows, note)


def ratios() -> Sheet:
    """Return the ratios of `against_official.py --device cuda`: a row for each."""
    figures = [one for job in jobs("official").values() for one in job["result"]["figures"]]
    columns = {(one["problem"], one["n"]): "" for one in figures}
    rows = []
    for what, of in rows_of(
        [{**one, "what": one["mark"]["what"]} for one in figures], "what"
    ).items():
        values = {(one["problem"], one["n"]): f"{one['value']['median']:.2f}" for one in of}
        rows.append(words(what, *(columns | values).values()))
    header = ("median of 3 turns", *(f"{problem} {n}" for problem, n in columns))
    return sheet("gpu ratios", header, rows, made("official"))


def run() -> Sheet:
    """Return the time of the run of preset `paper`, estimated from steps of each size."""
    found = jobs("paper")["float32"]["result"]
    each = found["seconds of a step"]
    rows = [words(shape, f"{1e3 * each[shape]:.0f} ms") for shape in sorted(each, key=size)]
    note = (
        f"{found['steps']:,} steps of LLR-BC take {found['minutes of steps']:.0f} minutes, tests "
        f"{found['minutes of tests']:.1f}. {made('paper')}"
    )
    return sheet("gpu run", ("nodes x batch", "a step"), rows, note)


def size(shape: str) -> int:
    """Return the nodes of a shape such as ``20 x 64``."""
    return int(shape.split()[0])
