"""Writing a report: ``report.html``, ``tables/`` in every form, and ``figures/``."""

from pathlib import Path

from lifelong_co.experiments.comparison.publish import check_writable, write_files
from lifelong_co.experiments.formats import FORMATS
from lifelong_co.experiments.page import page
from lifelong_co.experiments.report import Report

PLACES = ("report.html", "tables", "figures")
"""The files and folders of a report."""


def write_report(report: Report, folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write a report and return the paths written.

    Raises
    ------
    ConfigError
        If ``folder`` is a file or cannot be written, or if it holds a report already and
        ``overwrite`` is False.
    """
    check_writable(folder, PLACES, overwrite=overwrite)
    files = {
        f"tables/{sheet.key}.{suffix}": form(sheet).encode()
        for sheet in report.sheets
        for suffix, form in FORMATS.values()
    }
    files |= {f"figures/{picture.key}.png": picture.png for picture in report.pictures}
    return write_files({**files, "report.html": page(report).encode()}, folder)


def older_files(folder: Path, written: list[Path]) -> list[Path]:
    """Return the files in a report's folders that do not belong to this report."""
    there = [path for name in PLACES[1:] for path in (folder / name).glob("*") if path.is_file()]
    return sorted(set(there) - set(written))


def printed(report: Report, form: str) -> str:
    """Return all tables in one of the `FORMATS`, one after another."""
    _, function = FORMATS[form]
    parts = [function(sheet) for sheet in report.sheets]
    if form == "csv":  # CSV has no title, so a comment line has it
        parts = [f"# {s.title}\n{text}" for s, text in zip(report.sheets, parts, strict=True)]
    return "\n".join(parts)
