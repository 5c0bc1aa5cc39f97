"""Where ``lifelong-co solve`` writes solutions and pictures."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lifelong_co.instance_files.file_instance import FileInstance


def places(
    files: Sequence[Path],
    instances: "Sequence[FileInstance]",
    out: Path | None,
    plot: Path | None,
) -> list[tuple[Path, Path | None]]:
    """Return where the solution and the picture of each file go.

    ``out`` and ``plot`` are folders if they exist as such, or if there are several files.

    Raises
    ------
    ConfigError
        If two files have one place, or ``out`` or ``plot`` names a file for several files.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.experiments.benchmark.known import beside

    several = len(files) > 1
    for flag, folder in (("--out", out), ("--plot", plot)):
        if not several or folder is None or folder.is_dir():
            continue
        if os.path.lexists(folder) or folder.suffix in (".sol", ".tour", ".png"):
            raise ConfigError(f"{flag}: expected a folder (several FILEs), got {folder}")
    into, drawn_in = _folder(out, several), _folder(plot, several)
    found = [
        (into or Path()) / f"{file.stem}.{'tour' if one.demand is None else 'sol'}"
        for file, one in zip(files, instances, strict=True)
    ]
    pictures = [drawn_in / f"{file.stem}.png" for file in files] if drawn_in else []
    for what, paths in (("solution file", found), ("picture", pictures)):
        twice = [path.name for path in paths if paths.count(path) > 1]
        if twice:
            raise ConfigError(f"{twice[0]}: expected one FILE with this {what}, got several")
    for i, (file, instance, place) in enumerate(zip(files, instances, found, strict=True)):
        if place.parent.resolve() / place.name == beside(file, instance):
            found[i] = place.with_suffix(".found.sol")
    if out is not None and into is None:
        found = [out]
    drawn: list[Path | None] = [*pictures] or [plot] * len(found)
    return list(zip(found, drawn, strict=True))


def _folder(path: Path | None, several: bool) -> Path | None:
    """Return the path if it is a folder of outputs, else None."""
    return path if path is not None and (several or path.is_dir()) else None


def check_outputs(
    file: Path,
    target: Path,
    plot: Path | None,
    known: Path,
    *,
    overwrite: bool,
    new_folder: bool = False,
) -> None:
    """Refuse, before the work, outputs that cannot be written or would replace the instance.

    ``known`` is where the best known solution of the file is or would be. With ``new_folder`` a
    folder may be missing; see `make_folders`.
    """
    from lifelong_co.errors import ConfigError
    from lifelong_co.storage.files import refuse_unwritable_file
    from lifelong_co_cli.options import check_plot

    if plot is not None and target.resolve() == plot.resolve():
        raise ConfigError(f"{target}: expected different files for the solution and the plot")
    for wanted in (target, plot):
        if wanted is None:
            continue
        if wanted.resolve() == file.resolve():
            raise ConfigError(f"{wanted}: expected a file to write, got the instance")
        if wanted.resolve() == known:
            what = f"a later call would take it for the best known solution of {file}"
            raise ConfigError(f"{wanted}: {what}; choose another name")
        if os.path.lexists(wanted) and not overwrite:
            raise ConfigError(f"{wanted}: exists already; choose another name or --overwrite")
        if not new_folder or wanted.parent.exists():
            refuse_unwritable_file(wanted, overwrite=overwrite)
    if plot is not None:
        check_plot(plot)


def make_folders(folders: Mapping[str, Path | None]) -> None:
    """Make the folders of several outputs, by their flags, once all else is checked.

    Raises
    ------
    ConfigError
        If one cannot be made.
    """
    from lifelong_co.errors import ConfigError

    for flag, folder in folders.items():
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"{flag}: {folder} cannot be made ({error.strerror or error})"
            raise ConfigError(message) from error
