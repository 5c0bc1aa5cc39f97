"""Proves the code for GPUs with one command: correctness, speed, the paper's run, growth.

    python benchmarks/gpu.py [--pieces correctness official paper growth] [--budget 540]
        [--out runs/gpu] [--device cuda] [--precision float32] [--threads 8] [--tiny]

- ``correctness``: costs and gradients of POMO, Omni and INViT equal the CPU's: greedy and sampled,
  in one pass and step by step, with CUDA graphs and without; a resumed run equals a whole one.
- ``official``: `against_official.py`; the official code has to lie in ``LIFELONG_CO_UPSTREAM`` or
  in its submodule.
- ``paper``: the time that the run of preset `paper` takes, then the run, beside the paper's table.
- ``growth``: time and memory up to 1,000 nodes (`growth.py`).

The pieces run in this order, and need no network. Each job of a piece is a process. The command
stops after ``--budget`` seconds; the same command then goes on. In all commands together a piece
gets its share of the seconds (`gpu_pieces.pieces`); what is left of a budget goes to the pieces
that are not finished. ``OUT/gpu.json`` has the results after each job. A job that fails is noted
with its error, and the next one goes on; the exit status is then 1. A later command tries it again.
``--tiny --device cpu`` does everything at tiny size.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from gpu_pieces.pieces import PIECES, RESULTS, Job
from measurement import about

from lifelong_co.errors import LifelongError
from lifelong_co.storage.files import write_whole
from lifelong_co.tensors.device import chosen_device

# A job is not begun with fewer seconds.
LEAST = 15.0


class Results:
    """The results of all jobs, in memory and in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        found = json.loads(file.read_text()) if file.exists() else {"pieces": {}}
        self.pieces: dict[str, Any] = found["pieces"]
        self.about = about()
        self.write()

    def jobs(self, piece: str) -> dict[str, Any]:
        """Return the results of a piece by the name of the job."""
        jobs: dict[str, Any] = self.pieces.setdefault(piece, {"jobs": {}})["jobs"]
        return jobs

    def spent(self, piece: str) -> float:
        """Return the seconds that the jobs of a piece took so far."""
        return sum(job["seconds"] for job in self.jobs(piece).values())

    def note(self, piece: str, name: str, found: dict[str, Any]) -> None:
        """Keep what a job gave; its seconds are those of all its processes."""
        before = self.jobs(piece).get(name, {"seconds": 0.0})["seconds"]
        found["seconds"] = round(found["seconds"] + before, 1)
        found |= {name: self.about[name] for name in ("commit", "gpu", "cpu", "torch")}
        self.jobs(piece)[name] = found
        self.write()
        said = f": {found['error']}" if "error" in found else ""
        print(
            f"{piece:11} {name:18} {found['state']:10} {found['seconds']:6.0f} s{said}", flush=True
        )

    def write(self) -> None:
        """Write the file."""
        found = {"about": self.about, "pieces": self.pieces}
        write_whole(self.file, json.dumps(found, indent=1) + "\n")


def carry_out(job: Job, seconds: float, place: Path) -> dict[str, Any]:
    """Do a job in a process that is killed after ``seconds``; return its state and its results."""
    file, log = place.with_suffix(".json"), place.with_suffix(".log")
    place.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    command = [sys.executable, *job.command(seconds), "--json", str(file)]
    began = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **job.environment},
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    result = json.loads(file.read_text()) if file.exists() else {}
    return {
        **state_of(code, result, log.read_text(errors="replace")),
        "seconds": time.monotonic() - began,
        "result": result,
    }


def state_of(code: int | None, result: dict[str, Any], log: str) -> dict[str, str]:
    """Return ``done``, ``unfinished``, or ``failed`` with an error, from the end of a process."""
    if code is None or (code == 0 and not result.get("finished", True)):
        return {"state": "unfinished"}
    if code or not result:
        said = " / ".join([line.strip() for line in log.splitlines() if line.strip()][-3:])
        return {"state": "failed", "error": f"exit status {code}: {said}"[-1000:]}
    if result.get("broken"):
        broken = [check for check in result["checks"] if not check["holds"]]
        return {
            "state": "failed",
            "error": f"{len(broken)} of {len(result['checks'])} checks do not hold, the first is "
            + json.dumps(broken[0]),
        }
    return {"state": "done"}


def work(
    piece: str, options: argparse.Namespace, results: Results, tried: set[str], end: float
) -> None:
    """Do the jobs of a piece that are not done and were not tried, until the time ``end``."""
    try:
        jobs = PIECES[piece].jobs(options)
    except LifelongError as error:
        if piece not in tried:
            results.note(piece, "all", {"state": "failed", "error": str(error), "seconds": 0.0})
        tried.add(piece)
        return
    results.jobs(piece).pop("all", None)
    for job in jobs:
        key, left = f"{piece}-{job.name}", end - time.monotonic()
        if results.jobs(piece).get(job.name, {}).get("state") == "done" or key in tried:
            continue
        if left < (0 if options.tiny else LEAST):
            return
        found = carry_out(job, left, options.out / "jobs" / key)
        results.note(piece, job.name, found)
        if found["state"] == "failed":
            tried.add(key)


def everything(options: argparse.Namespace) -> int:
    """Do the pieces, first each in its share of the time, then in all that is left."""
    began = time.monotonic()
    results, tried = Results(options.out / RESULTS), set[str]()
    end = began + options.budget
    for shared in (True, False):
        for piece in options.pieces:
            share = PIECES[piece].share - results.spent(piece)
            work(
                piece,
                options,
                results,
                tried,
                min(end, time.monotonic() + share) if shared else end,
            )
    states = {
        (piece, name): job["state"]
        for piece in options.pieces
        for name, job in results.jobs(piece).items()
    }
    for state in ("failed", "unfinished"):
        if named := [f"{piece} {name}" for (piece, name), now in states.items() if now == state]:
            print(f"{state}: {', '.join(named)}")
    for row in results.jobs("paper").get("run", {}).get("result", {}).get("table", []):
        where = f"after {row['after']} tasks, {row['metric']:4} in 10^-3"
        print(f"{where}: {row['ours']:8.2f}, the paper's {row['paper']:8.2f}")
    print(f"results: {results.file}")
    return int("failed" in states.values())


def one(piece: str, name: str, options: argparse.Namespace) -> int:
    """Do a job in this process, and write its results to a file."""
    import torch

    torch.set_num_threads(options.threads)
    for found in PIECES[piece].do(name, options):
        write_whole(options.json, json.dumps(found))
    return 0


def main() -> int:
    """Read the options; do all pieces, or one job."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pieces", nargs="+", choices=PIECES, default=list(PIECES))
    parser.add_argument("--budget", type=float, default=540.0, help="seconds of this command")
    parser.add_argument("--out", type=Path, default=Path("runs/gpu"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--tiny", action="store_true", help="everything at tiny size")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        options.device = chosen_device(options.device, "--device")
    except LifelongError as error:
        parser.error(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    options.given = [
        *("--out", str(options.out), "--device", options.device, "--threads", str(options.threads)),
        *("--precision", options.precision, *(["--tiny"] if options.tiny else [])),
    ]
    return one(*options.one, options) if options.one else everything(options)


if __name__ == "__main__":
    sys.exit(main())
