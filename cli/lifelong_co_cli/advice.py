"""The commands that go on from a folder or a file, for messages."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from lifelong_co.errors import FolderError


def resume_command(command: str, folder: Path) -> str:
    """Return what to type in a shell to go on with ``run``, ``pretrain`` or ``sweep``."""
    return f"lifelong-co {command} --resume {shlex.quote(str(folder))}"


def stopped(command: str, folder: Path) -> str:
    """Return the line that an interrupted command ends with."""
    return f"stopped; continue with: {resume_command(command, folder)}"


def advice(error: "FolderError") -> str:
    """Return what to do instead, for a folder that holds something else than is needed."""
    from lifelong_co.errors import NEW_FOLDER, PRETRAINED, RUN

    remedies = ["choose another --out"]
    if error.expected != NEW_FOLDER:
        start = f"lifelong-co run --start-from {shlex.quote(str(error.folder))}"
        remedies = [f"start a run from them with: {start}"]
    if error.found == RUN:
        remedies.append(f"continue it with: {resume_command('run', error.folder)}")
    if error.found == PRETRAINED:
        remedies.append(f"go on pretraining with: {resume_command('pretrain', error.folder)}")
    return ", or ".join(remedies)


def note_unfinished(run: Path, after: int | None) -> None:
    """Say that the solver of a run has not learned all of its tasks, unless it was chosen so."""
    from lifelong_co.runs.folder import STARTS, RunFolder

    folder = RunFolder(run)
    config, learned = folder.config(), folder.learned()
    if after is None and learned < len(config.tasks) and config.method not in STARTS:
        typer.echo(
            f"{run}: not finished, {learned} of {len(config.tasks)} tasks learned; these are the"
            " costs of the latest checkpoint",
            err=True,
        )


def refuse_npz(file: Path) -> None:
    """Raise an error for a file of many instances, where one is solved."""
    from lifelong_co.errors import ConfigError

    if file.suffix.lower() == ".npz":
        raise ConfigError(
            f"{file}: expected a file of one instance, such as .vrp, got .npz; for the mean cost of"
            f" its instances: lifelong-co evaluate RUN --files {shlex.quote(str(file))}; for their"
            " routes: docs/guides/files.md"
        )
