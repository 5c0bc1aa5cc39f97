"""Carrying out a run: the configuration first, then its progress, metrics and report."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import typer


def continue_run(folder: Path) -> None:
    """Resume the run in a folder."""
    from lifelong_co.runs.folder import RunFolder, refuse_start
    from lifelong_co_cli.options import choose_device

    config = RunFolder(folder).config()
    refuse_start(config, folder)
    choose_device(config.device)  # it may have been started on another machine
    execute(config, folder, resume=True)


def execute(config: Any, folder: Path, *, resume: bool) -> None:
    """Show the configuration, learn, and end with the metrics and the report."""
    from lifelong_co.errors import Interrupted
    from lifelong_co.experiments.comparison import gaps
    from lifelong_co.experiments.comparison.comparison import compare_folders
    from lifelong_co.experiments.comparison.publish import write_run_report
    from lifelong_co.experiments.comparison.tables import as_text
    from lifelong_co.learner import learn
    from lifelong_co.runs.data_parallel import joined
    from lifelong_co.runs.prepare import prepare
    from lifelong_co_cli.advice import stopped
    from lifelong_co_cli.places import places
    from lifelong_co_cli.progress import watching
    from lifelong_co_cli.signals import stop_on_signal

    with joined(config.device) as ranks, stop_on_signal() as stop, silent(not ranks.first):
        try:
            with watching(config) as shown:
                run = prepare(config, folder, resume=resume, ranks=ranks, log=shown.log)
                learn(run, stop=stop, on_step=shown.on_step, log=shown.log)
        except Interrupted as interrupted:
            print(stopped("run", interrupted.folder))
            raise typer.Exit(stop.status) from interrupted
    if not ranks.first:
        return
    comparison = compare_folders([folder])
    references = gaps.mean_references(config, places())
    report = write_run_report(folder, references=references)
    print()
    print(as_text(comparison) + gaps.as_text(comparison, references))
    print(f"peak memory: {peak_memory()}")
    print(f"report: {report}")


def peak_memory() -> str:
    """Return the most memory that this process has held, and that it has held on a GPU."""
    import torch

    if sys.platform == "win32":  # which has no `resource`
        return "unknown"
    import resource

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mebibytes = highest / (2**20 if sys.platform == "darwin" else 2**10)  # bytes there, else KiB
    status = Path("/proc/self/status")
    if status.exists():  # Linux's `ru_maxrss` is not below what the parent process had held
        mebibytes = int(status.read_text().partition("VmHWM:")[2].split()[0]) / 2**10
    shown = f"{mebibytes:.0f} MiB"
    if torch.cuda.is_available():
        shown += f", on the GPU {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB"
    return shown


@contextmanager
def silent(really: bool) -> Iterator[None]:
    """Print nothing: of several processes that learn together one speaks."""
    if not really:
        yield
        return
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        yield
