"""``lifelong-co demo``: two runs in about two minutes, one forgets, one does not."""

import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from lifelong_co_cli.options import Seed
from lifelong_co_cli.system import stop_on_signal

METHODS = ("fine-tuning", "llr-bc")


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="New folder for both runs and the report.")
    ] = Path("demo"),
    problem: Annotated[
        str, typer.Option(metavar="NAME", help="Routing problem: tsp or cvrp.")
    ] = "cvrp",
    seed: Seed = 0,
) -> None:
    """Train with and without LLR-BC, and compare (two minutes).

    Each of the two runs uses one CPU core.
    """
    from lifelong_co import registry
    from lifelong_co.experiments.comparison.comparison import compare_folders
    from lifelong_co.experiments.comparison.publish import write_report
    from lifelong_co.runs.folder import fresh_folder
    from lifelong_co.storage.files import refuse_unwritable

    registry.problem(problem)  # an unknown name is refused once, not by each of the two runs
    refuse_unwritable(out)
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
    statuses = run_side_by_side(dict(zip(METHODS, commands, strict=True)))
    if any(statuses):
        if {128 + signal.SIGINT, 128 + signal.SIGTERM} & {*statuses}:
            places = " ".join(shlex.quote(str(place)) for place in folders)
            target = shlex.quote(str(folder / "report"))
            print(f"after both runs: lifelong-co compare {places} --out {target}")
        # A run that a signal ended, e.g. when memory ran out, has a negative status.
        raise typer.Exit(max(status if status >= 0 else 128 - status for status in statuses))
    *_, report = write_report(compare_folders(folders), folder / "report")
    print((folder / "report" / "table.txt").read_text(encoding="utf-8"))
    figure = report.with_name("forgetting.png")
    if figure.exists():  # matplotlib may be missing
        print(f"figure:  {figure}")
    print(f"report:  {report}   ({time.perf_counter() - began:.0f} s)")


def run_side_by_side(commands: Mapping[str, list[str]]) -> list[int]:
    """Run commands by label at the same time, each on one thread; print their tests with labels.

    At a signal to stop each one saves and stops. Its status is then that of this signal.
    """
    from lifelong_co.experiments.sweep.engines import command, run_environment, without_interrupts

    processes: list[subprocess.Popen[str]] = []
    readers: list[threading.Thread] = []
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True, "env": run_environment()}
    with stop_on_signal() as stop:
        try:
            for label, arguments in commands.items():
                with without_interrupts():
                    process = subprocess.Popen(command(arguments), **pipes)
                processes.append(process)
                reader = threading.Thread(target=relay, args=(process.stdout, label), daemon=True)
                readers.append(reader)
                reader.start()
            while any(process.poll() is None for process in processes):
                time.sleep(0.2)
                if stop():
                    for process in processes:
                        process.terminate()
                    break
            statuses = [process.wait() for process in processes]
        except BaseException:  # e.g. a second Ctrl-C
            for process in processes:
                process.kill()
            raise
    for reader in readers:
        reader.join()
    ended = (128 + signal.SIGTERM, -signal.SIGTERM)  # the second: a run that had already saved
    return [stop.status if stop() and status in ended else status for status in statuses]


def relay(lines: IO[str], label: str) -> None:
    """Print the test results of a run as they come; the run folder has the rest."""
    with lines:
        for line in lines:
            if re.search(r"epoch \d+: cost ", line):
                print(f"{label:<12} {line}", end="", flush=True)
            elif "--resume" in line:
                print(line, end="", flush=True)
