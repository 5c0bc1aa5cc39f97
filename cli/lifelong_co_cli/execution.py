"""Carry out a run: show its progress, then the metrics, and write the report."""

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import typer


def continue_run(folder: Path, tasks: Path | None = None) -> None:
    """Resume the run in a folder, with the further tasks of a file if one is given."""
    from lifelong_co.api.learn import further
    from lifelong_co.runs.folder import RunFolder, refuse_start
    from lifelong_co_cli.system import choose_device

    config = RunFolder(folder).config()
    refuse_start(config, folder)
    if tasks is not None:
        config = further(folder, tasks)
    choose_device(config.device)  # the run may come from another machine
    execute(config, folder, resume=True)


def show_further(folder: Path, tasks: Path) -> None:
    """Print the configuration with the further tasks of a file, and what they take."""
    from lifelong_co.api.learn import further
    from lifelong_co.config.run_config import to_toml
    from lifelong_co.runs.data_files import checked
    from lifelong_co.runs.folder import RunFolder, refuse_start, with_all_options
    from lifelong_co.runs.further_tasks import refuse_unfinished
    from lifelong_co_cli.system import choose_device

    run = RunFolder(folder)
    refuse_start(run.config(), folder)
    learned, config = run.learned(), further(folder, tasks)
    refuse_unfinished(run, learned)
    checked(folder, config, learned)
    choose_device(config.device)
    print(to_toml(with_all_options(config)), end="", flush=True)
    show_estimate(config, learned)


def execute(config: Any, folder: Path, *, resume: bool) -> None:
    """Learn, then show the metrics and write the report."""
    from lifelong_co.api.learn import carry_out
    from lifelong_co.errors import Interrupted
    from lifelong_co.experiments.comparison.comparison import compare_folders
    from lifelong_co.experiments.comparison.publish import write_run_report
    from lifelong_co.experiments.comparison.tables import as_text
    from lifelong_co.experiments.references.gaps import mean_references
    from lifelong_co.runs.data_parallel import joined
    from lifelong_co.runs.workplace import at_work
    from lifelong_co_cli.advice import stopped
    from lifelong_co_cli.options import places
    from lifelong_co_cli.system import peak_memory, stop_on_signal

    with joined(config.device) as ranks, at_work(folder, ranks, new=not resume):
        with (
            stop_on_signal() as stop,
            Path(os.devnull).open("w") as nowhere,
            redirect_stdout(sys.stdout if ranks.first else nowhere),  # only one process prints
        ):
            try:
                run = carry_out(config, folder, resume=resume, ranks=ranks, stop=stop)
            except Interrupted as interrupted:
                print(stopped("run", interrupted.folder))
                raise typer.Exit(stop.status) from interrupted
        if not ranks.first:
            return
        comparison = compare_folders([folder])
        references = mean_references(config, places(), run.tests)
        report = write_run_report(folder, references=references)
        print()
        print(as_text(comparison, references))
        print(f"peak memory: {peak_memory(config.device)}")
        print(f"report: {report}")


def show_estimate(config: Any, learned: int = 0) -> None:
    """Measure a few steps, and print on standard error what a run takes after its learned tasks."""
    from lifelong_co.api.estimate import estimate
    from lifelong_co.api.progress import duration
    from lifelong_co_cli.system import peak_memory

    typer.echo("measuring a few steps and a batch of tests of each size …", err=True)
    found = estimate(config, learned)
    least, most = min(found.each.values()), max(found.each.values())
    typer.echo(
        f"time: about {duration(found.seconds)} on this machine, as busy as it is now:"
        f" {found.steps} steps of {least:.3g} to {most:.3g} s, tests"
        f" {duration(found.testing)}",
        err=True,
    )
    buffer = f"; a full buffer has at most {found.buffer / 2**20:.0f} MiB" if found.buffer else ""
    peak = peak_memory(config.device)
    typer.echo(f"memory: {peak} at the peak of these steps and tests{buffer}", err=True)
