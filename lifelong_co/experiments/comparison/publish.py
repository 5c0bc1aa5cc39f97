"""Writes reports: all files are made in memory first; each is then written whole or not at all."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import figures, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.report import ABOUT, make_report
from lifelong_co.experiments.comparison.selection import MANY
from lifelong_co.experiments.page import page
from lifelong_co.experiments.references.gaps import MeanReferences
from lifelong_co.storage.files import refuse_unwritable, write_whole

PICTURES = (*ABOUT, "costs")
"""The names that `draw` may give; ``costs`` only if there are many tasks."""
FILES = ("table.txt", "table.csv", "report.html", *(f"{name}.png" for name in PICTURES))
"""The files that a comparison may have; the figures need matplotlib."""


def write_run_report(run_dir: Path | str, *, references: MeanReferences | None = None) -> Path:
    """Write ``report.html`` and ``figures/`` of a finished run to its folder, or replace them.

    Parameters
    ----------
    run_dir
        The folder of the run.
    references
        Mean reference costs of its tasks; with them the page has optimality gaps.

    Returns
    -------
    Path
        The path of ``report.html``.

    Raises
    ------
    ConfigError
        If the folder is not a finished run.
    """
    folder = Path(run_dir)
    comparison = compare_folders([folder])
    images = draw(comparison)
    report = page(make_report(comparison, images, references))
    files = {f"figures/{name}.png": image for name, image in images.items()}
    path = write_files({**files, "report.html": report.encode()}, folder)[-1]
    _remove_others(folder / "figures", images)
    return path


def write_report(
    comparison: Comparison,
    out_dir: Path | str,
    *,
    overwrite: bool = False,
    references: MeanReferences | None = None,
    split: bool = False,
) -> list[Path]:
    """Write `FILES` for a comparison, with gaps if there are references; return their paths.

    With ``split`` the tables have the parts of AP, as the page always has.

    Raises
    ------
    ConfigError
        If ``out_dir`` is a file, or holds a report already and ``overwrite`` is False.
    """
    folder = Path(out_dir)
    check_writable(folder, overwrite=overwrite)
    images = draw(comparison)
    means = references.means if references else {}
    files = {
        "table.txt": tables.as_text(comparison, references, split=split).encode(),
        "table.csv": tables.as_csv(comparison, means, split=split).encode(),
        **{f"{name}.png": image for name, image in images.items()},
        "report.html": page(make_report(comparison, images, references)).encode(),
    }
    paths = write_files(files, folder)
    _remove_others(folder, images)
    return paths


def _remove_others(folder: Path, images: Mapping[str, bytes]) -> None:
    """Remove the figures of a former report that the new one does not have."""
    for name in PICTURES:
        if name not in images:
            (folder / f"{name}.png").unlink(missing_ok=True)


def check_writable(folder: Path, files: Sequence[str] = FILES, *, overwrite: bool) -> None:
    """Raise `ConfigError` if ``folder`` is a file, or holds files that may not be replaced."""
    refuse_unwritable(folder)
    there = [name for name in files if (folder / name).exists()]
    if there and not overwrite:
        raise ConfigError(
            f"{folder}: holds {', '.join(there)} already; choose another folder or pass overwrite"
        )


def draw(comparison: Comparison) -> dict[str, bytes]:
    """Return the figures as PNG by name; none if matplotlib is not installed.

    Multi-task methods are in no figure: they learn no task after another.
    """
    if not figures.available():
        return {}
    found: dict[str, bytes] = {}
    if curves := comparison.one_by_one:
        found["forgetting"] = figures.forgetting(curves)
        found["plasticity"] = figures.plasticity(curves)
        if len(curves.runs[0].names) > MANY and not any(run.sparse for run in curves.runs):
            found["costs"] = figures.matrices(curves)
    return found


def write_files(files: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write files, named by their paths below a folder, and return the paths.

    Each file is written whole or not at all. After an error no new folder stays empty.

    Raises
    ------
    ConfigError
        If a file cannot be written.
    """
    paths: list[Path] = []
    for name, content in files.items():
        path = folder / name
        missing = [place for place in path.parents if not place.exists()]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)
        except OSError as error:
            with suppress(OSError):  # a folder that holds something stays
                for place in missing:
                    place.rmdir()
            raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
        paths.append(path)
    return paths
