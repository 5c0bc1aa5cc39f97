"""Trials of damage: ``python benchmarks/trials KIND... --seed S --count N [--json FILE]``.

Each trial has one of the four ends of `ends.End`; anything else fails and is printed with the
command that repeats it. The exit status is 1 if a trial failed.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
KINDS = {
    "kills": "kills",
    "damage": "damage",
    "disk": "full_disks",
    "two": "two_processes",
    "numbers": "not_finite",
    "plugins": "bad_plugins",
    "inputs": "mutated_inputs",
    "commands": "wrong_commands",
}
"""Kind of trial to its module."""


def main() -> int:
    """Carry out the trials of the command line."""
    options = parsed()
    warm()
    found: dict[str, Any] = {}
    for kind, count in options.kinds:
        found[kind] = carry_out(kind, count or options.count, options)
        if options.json:
            write(options.json, kind, found[kind])
    return int(any(each["failed"] for each in found.values()))


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("benchmarks/trials", description=__doc__)
    parser.add_argument(
        "kinds", nargs="+", type=kind_of, metavar="KIND[=COUNT]", help=", ".join(KINDS)
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20, help="trials of each kind")
    parser.add_argument("--only", type=int, help="the number of one trial to repeat")
    parser.add_argument("--json", type=Path, help="add the counts to this file")
    parser.add_argument("--quiet", action="store_true", help="print only failures and counts")
    return parser.parse_args()


def kind_of(word: str) -> tuple[str, int]:
    """Read ``KIND`` or ``KIND=COUNT``; without a count it is 0."""
    kind, _, count = word.partition("=")
    if kind not in KINDS:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(KINDS)}, got {kind!r}")
    return kind, int(count or 0)


def warm() -> None:
    """Import what the commands import, and compute nothing, so that forks are cheap."""
    sys.path.append(str(ROOT / "tests"))
    os.environ["MPLBACKEND"] = "agg"
    os.environ.setdefault("LIFELONG_CO_LOAD_PLUGINS", "")
    import torch

    from lifelong_co import registry

    for module in (
        *("lifelong_co_cli.main", "lifelong_co.learner", "lifelong_co.pretraining.loop"),
        *("lifelong_co.experiments.comparison.report", "lifelong_co.experiments.sweep.conduct"),
        *("lifelong_co.experiments.paper.write", "matplotlib.pyplot"),
    ):
        try:
            import_module(module)
        except ImportError as error:  # a name that has changed costs time only
            print(f"not imported early: {error}", file=sys.stderr)
    torch.set_num_threads(1)
    registry.components()


def carry_out(kind: str, count: int, options: argparse.Namespace) -> dict[str, Any]:
    """Carry out the trials of a kind; return their counts."""
    from ends import Failed

    module = import_module(KINDS[kind])
    numbers = range(count) if options.only is None else [options.only]
    ends: Counter[str] = Counter()
    failures: list[str] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"trials-{kind}-", dir=fast()) as place:
        state = module.prepare(Path(place).resolve())
        for number in numbers:
            draw = random.Random(f"{kind} {options.seed} {number}")
            try:
                end, what = module.trial(state, draw, number)
            except KeyboardInterrupt:
                print(f"{kind}: stopped before trial {number}", flush=True)
                break
            except Failed as error:
                end, what = "failed", str(error)
                failures.append(what.splitlines()[0])
            ends[end] += 1
            if end == "failed" or not options.quiet:
                command = f"python benchmarks/trials {kind} --seed {options.seed} --only {number}"
                print(f"{command}: {end}: {what}", flush=True)
    seconds = time.monotonic() - began
    counts = ", ".join(f"{count} {end}" for end, count in ends.most_common())
    print(f"{kind}: {sum(ends.values())} trials in {seconds:.0f} s: {counts}", flush=True)
    return {
        "seed": options.seed,
        "trials": sum(ends.values()),
        "ends": dict(ends),
        "failed": failures,
        "seconds": round(seconds),
        "commit": commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, {platform.system()}",
    }


def fast() -> str | None:
    """Return a folder in memory if the machine has one, for thousands of small files."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and os.access(memory, os.W_OK) else None


def commit() -> str:
    """Return the commit of the code, with a plus if files differ from it."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    dirty = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True)
    return name.stdout.strip() + ("+" if dirty.stdout else "")


def write(file: Path, kind: str, found: dict[str, Any]) -> None:
    """Add the counts of a kind to a JSON file."""
    stored = json.loads(file.read_text()) if file.is_file() else {}
    stored[kind] = found
    file.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
