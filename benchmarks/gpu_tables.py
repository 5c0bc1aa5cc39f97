"""Tables of `results/gpu.json`, which `gpu.py` wrote on a GPU."""

import json
from typing import Any

from measurement import RESULTS
from speed_tables import by_mark, rows_of, sheet

from lifelong_co.experiments.sheet import Sheet, words

FIGURES = ("cost", "likelihood", "gradient")
KINDS = ("solve", "step")


def jobs(piece: str) -> dict[str, dict[str, Any]]:
    """Return the finished jobs of a piece by name; one that failed is an error."""
    stored = json.loads((RESULTS / "gpu.json").read_text(encoding="utf-8"))
    found = stored["pieces"][piece]["jobs"]
    if failed := [name for name, job in found.items() if job["state"] == "failed"]:
        raise ValueError(f"gpu.json, {piece}: failed: {', '.join(failed)}")
    return {name: job for name, job in found.items() if job["state"] == "done"}


def made(piece: str) -> str:
    """Return the commits of a piece, and the machine; threads only where the jobs name them."""
    done = jobs(piece).values()
    commits = sorted({job["commit"] for job in done})
    numbers = {job["result"].get("threads") for job in done} - {None}
    threads = f"{' or '.join(map(str, sorted(numbers)))} threads of " if numbers else ""
    machines = {f"{job['gpu']} with {threads}{job['cpu']}, torch {job['torch']}" for job in done}
    said = "; ".join(sorted(machines))
    return f"Commit{'s' * (len(commits) > 1)} {' and '.join(commits)}, {said}."


def checks() -> Sheet:
    """Return the largest differences from the CPU: a row for each solver and precision."""
    rows, resumed = [], []
    for name, job in jobs("correctness").items():
        if name.startswith("resumed"):
            resumed += job["result"]["checks"]
            continue
        # Those of graphs with a generator are beside no graphs on the GPU, not beside the CPU.
        found = [
            check for check in job["result"]["checks"] if not check["what"].startswith("graphs")
        ]
        for precision, of in rows_of(found, "precision").items():
            largest = (f"{max(check[figure] or 0 for check in of):.0e}" for figure in FIGURES)
            same = min(check["actions"] for check in of)
            rows.append(words(name, precision, str(len(of)), f"{same:.1%}", *largest))
    header = ("", "precision", "comparisons", "same actions", "cost", "log-likelihood", "gradient")
    difference = max(check["difference"] for check in resumed)
    note = (
        "The largest relative differences, of trajectories with the same actions; of the "
        "log-probabilities of replayed experiences the largest absolute one. The largest of "
        f"the costs of a resumed run from those of a whole one, in {len(resumed)} runs: "
        f"{difference:g}. {made('correctness')}"
    )
    return sheet("gpu checks", header, rows, note)


def ratios() -> Sheet:
    """Return the ratios of `against_official.py --device cuda`: a row for each."""
    figures = [one for job in jobs("official").values() for one in job["result"]["figures"]]
    columns = {(one["problem"], one["n"]): "" for one in figures}
    rows = []
    for what, of in by_mark(figures).items():
        values = {(one["problem"], one["n"]): f"{one['value']['median']:.2f}" for one in of}
        rows.append(words(what, *(columns | values).values()))
    header = ("median of 3 turns", *(f"{problem} {n}" for problem, n in columns))
    return sheet("gpu ratios", header, rows, made("official"))


def run() -> Sheet:
    """Return the time of the run of preset `paper`, estimated from a few steps of each size."""
    found = {name: jobs("paper")[name]["result"] for name in ("float32", "bfloat16")}
    shapes = sorted(found["float32"]["seconds of a step"], key=size)
    rows = [
        words(
            name,
            *(f"{1e3 * one['seconds of a step'][shape]:.0f} ms" for shape in shapes),
            *(f"{one[f'minutes of {what}']:.1f}" for what in ("steps", "tests")),
        )
        for name, one in found.items()
    ]
    header = ("", *(f"a step, {shape}" for shape in shapes), "all steps, min", "all tests, min")
    note = f"{found['float32']['steps']:,} steps (nodes x batch). {made('paper')}"
    return sheet("gpu run", header, rows, note)


def growth() -> Sheet:
    """Return the time and the memory of the CVRP by nodes and batch, from `growth.py`."""
    results = (job["result"] for job in jobs("growth").values())
    found = [one for one in results if "seconds" in one]  # others are left out, or a picture
    points: dict[tuple[int, int], dict[str, tuple[str, str]]] = {}
    for one in found:
        shown = f"{one['seconds']:.2f} s", f"{one['gib']:.2f} GiB"
        points.setdefault((one["n"], one["batch"]), {})[one["kind"]] = shown
    rows = [
        words(f"{n:,}", str(batch), *(part for kind in KINDS for part in of.get(kind, ("", ""))))
        for (n, batch), of in sorted(points.items(), key=lambda point: point[0][::-1])
    ]
    header = ("nodes", "batch", "solving", "its memory", "a training step", "its memory")
    return sheet("gpu growth", header, rows, made("growth"))


def size(shape: str) -> int:
    """Return the nodes of a shape such as ``20 x 64``."""
    return int(shape.split()[0])
