"""``lifelong-co demo``: forgetting and its cure in about two minutes."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Annotated

import typer

from lifelong_co_cli.signals import stop_on_signal

METHODS = ("fine-tuning", "llr-bc")


def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for both runs and the report; made anew.", metavar="DIR")
    ] = Path("demo"),
    problem: Annotated[str, typer.Option(help="Routing problem: tsp or cvrp.")] = "cvrp",
    seed: Annotated[int, typer.Option(help="Fixes everything random.", min=0)] = 0,
) -> None:
    """Train with and without LLR-BC, side by side, and compare: two minutes.

    Each run has a core of its own: networks this small gain nothing from a second.
    """
    from lifelong_co.experiments.comparison.comparison import compare_folders
    from lifelong_co.experiments.comparison.publish import write_report
    from lifelong_co_cli.options import fresh_folder

    folder = fresh_folder(out)
    began = time.perf_counter()
    folders = [folder / method for method in METHODS]
    shared = ["--preset", "demo", "--problem", problem, "--seed", str(seed), "--device", "cpu"]
    commands = [
        ["run", "--method", method, *shared, "--out", str(place)]
        for method, place in zip(METHODS, folders, strict=True)
    ]
    for command in commands:
        print("lifelong-co", *command)
    statuses = run_side_by_side(commands)
    if any(statuses):
        # A run that a signal ended, e.g. for want of memory, has a negative status.
        raise typer.Exit(max(status if status >= 0 else 128 - status for status in statuses))
    *_, report = write_report(compare_folders(folders), folder / "report")
    print((folder / "report" / "table.txt").read_text(encoding="utf-8"))
    figure = report.with_name("forgetting.png")
    if figure.exists():  # matplotlib may be missing
        print(f"figure:  {figure}")
    print(f"report:  {report}   ({time.perf_counter() - began:.0f} s)")


def run_side_by_side(commands: list[list[str]]) -> list[int]:
    """Run commands of ours at once, each on one thread; prefix their tests' lines with the method.

    Ctrl-C reaches them all through the terminal; each saves and stops by itself.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "lifelong_co_cli.main", *command],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for command in commands
    ]
    readers = [
        threading.Thread(target=relay, args=(process.stdout, method), daemon=True)
        for process, method in zip(processes, METHODS, strict=True)
    ]
    for reader in readers:
        reader.start()
    with stop_on_signal() as stop:
        while any(process.poll() is None for process in processes):
            time.sleep(0.2)
            if stop.signal == signal.SIGTERM:  # unlike Ctrl-C it reaches this process only
                for process in processes:
                    process.terminate()
                break
        statuses = [process.wait() for process in processes]
    for reader in readers:
        reader.join()
    return statuses


def relay(lines: IO[str], method: str) -> None:
    """Print the tests of a run as they come; the rest is in its folder."""
    with lines:
        for line in lines:
            if re.search(r"epoch \d+: cost ", line):
                print(f"{method:<12} {line}", end="", flush=True)
            elif "--resume" in line:
                print(line, end="", flush=True)
