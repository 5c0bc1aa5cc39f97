"""Writes reports: every file is made in memory first, then put in place whole or not at all."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import figures, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page
from lifelong_co.experiments.references.gaps import MeanReferences
from lifelong_co.storage.files import write_whole

FILES = ("table.txt", "table.csv", "forgetting.png", "plasticity.png", "report.html")
"""What a comparison leaves in its folder; the figures only where matplotlib is installed."""


def write_run_report(run_dir: Path | str, *, references: MeanReferences | None = None) -> Path:
    """Write ``report.html`` and ``figures/`` of a finished run into its folder, or replace them.

    Parameters
    ----------
    run_dir
        The folder of the run.
    references
        Mean reference costs of its tasks; with them the page has optimality gaps.

    Returns
    -------
    Path
        Of ``report.html``.

    Raises
    ------
    ConfigError
        If the folder holds no finished run.
    """
    folder = Path(run_dir)
    comparison = compare_folders([folder])
    images = draw(comparison)
    report = page(make_report(comparison, images, references))
    files = {f"figures/{name}.png": image for name, image in images.items()}
    return write_files({**files, "report.html": report.encode()}, folder)[-1]


def write_report(
    comparison: Comparison,
    out_dir: Path | str,
    *,
    overwrite: bool = False,
    references: MeanReferences | None = None,
) -> list[Path]:
    """Write `FILES` for a comparison, with gaps where there are references; return their paths.

    Raises
    ------
    ConfigError
        If ``out_dir`` is a file, or holds a report already and ``overwrite`` is not set.
    """
    folder = Path(out_dir)
    check_writable(folder, overwrite=overwrite)
    images = draw(comparison)
    means = references.means if references else {}
    files = {
        "table.txt": tables.as_text(comparison, references).encode(),
        "table.csv": tables.as_csv(comparison, means).encode(),
        **{f"{name}.png": image for name, image in images.items()},
        "report.html": page(make_report(comparison, images, references)).encode(),
    }
    return write_files(files, folder)


def check_writable(folder: Path, files: Sequence[str] = FILES, *, overwrite: bool) -> None:
    """Raise `ConfigError` where a report of these files cannot go to ``folder`` without harm."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: expected a folder for the report, found a file")
    there = [name for name in files if (folder / name).exists()]
    if there and not overwrite:
        raise ConfigError(
            f"{folder}: holds {', '.join(there)} already; choose another folder or pass --overwrite"
        )


def draw(comparison: Comparison) -> dict[str, bytes]:
    """Return the figures as PNG by name; none where matplotlib is missing."""
    if not figures.available():
        return {}
    return {
        "forgetting": figures.forgetting(comparison),
        "plasticity": figures.plasticity(comparison),
    }


def write_files(files: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write files by their paths below a folder, each whole or not at all, and return the paths.

    Raises
    ------
    ConfigError
        If one cannot be written.
    """
    paths = []
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
        paths.append(path)
    return paths
