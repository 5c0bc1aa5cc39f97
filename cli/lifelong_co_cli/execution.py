"""Carry out a run: show its progress, then the metrics, and write the report."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import typer


def continue_run(folder: Path, first_task_from: Sequence[Path] = ()) -> None:
    """Resume the run in a folder; tasks not begun yet begin with the parts shared with others."""
    from lifelong_co.runs.folder import RunFolder, refuse_start
    from lifelong_co_cli.system import choose_device

    config = RunFolder(folder).config()
    refuse_start(config, folder)
    choose_device(config.device)  # the run may come from another machine
    execute(config, folder, resume=True, first_task_from=first_task_from)


def execute(
    config: Any, folder: Path, *, resume: bool, first_task_from: Sequence[Path] = ()
) -> None:
    """Learn, then show the metrics and write the report."""
    from lifelong_co.experiments.comparison import gaps
    from lifelong_co.experiments.comparison.comparison import compare_folders
    from lifelong_co.experiments.comparison.publish import write_run_report
    from lifelong_co.experiments.comparison.tables import as_text
    from lifelong_co.learner import Interrupted, learn
    from lifelong_co.runs.data_parallel import joined
    from lifelong_co_cli.options import places
    from lifelong_co_cli.progress import watching
    from lifelong_co_cli.system import peak_memory, stop_on_signal

    with joined(config.device) as ranks, stop_on_signal() as stop, silent(not ranks.first):
        try:
            with watching(config) as watcher:
                learn(
                    config,
                    folder,
                    resume=resume,
                    first_task_from=first_task_from,
                    ranks=ranks,
                    stop=stop,
                    watch=watcher.watch,
                    tell=watcher.tell,
                )
        except Interrupted as interrupted:
            print(interrupted)
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


@contextmanager
def silent(really: bool) -> Iterator[None]:
    """Print nothing if ``really``: of several processes that learn together, only one prints."""
    if not really:
        yield
        return
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        yield
