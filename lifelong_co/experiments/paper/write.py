"""Writing a report: ``report.html``, ``tables/`` in every form, and ``figures/``."""

from pathlib import Path

from lifelong_co.experiments.comparison.publish import check_writable, write_files
from lifelong_co.experiments.formats import FORMATS
from lifelong_co.experiments.page import page
from lifelong_co.experiments.report import Report
from lifelong_co.storage import lock
from lifelong_co.storage.files import TEMPORARY

PLACES = ("report.html", "tables", "figures")
"""The files and folders of a report."""


def write_report(report: Report, folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write a report and return the paths written.

    Temporary files of killed processes are removed.

    Raises
    ------
    ConfigError
        If ``folder`` is a file or cannot be written, if it holds a report already and
        ``overwrite`` is False, or if another process writes a report there.
    """
    check_writable(folder, PLACES, overwrite=overwrite)
    files = {
        f"tables/{sheet.key}.{suffix}": form(sheet).encode()
        for sheet in report.sheets
        for suffix, form in FORMATS.values()
    }
    files |= {f"figures/{picture.key}.png": picture.png for picture in report.pictures}
    files["report.html"] = page(report).encode()
    refusal = f"{folder}: another process writes a report here; wait for it or stop it"
    with lock.alone(folder, refusal):
        for place in {(folder / name).parent for name in files}:
            for path in place.glob(".*.tmp"):
                if TEMPORARY.fullmatch(path.name):
                    path.unlink()
        return write_files(files, folder)


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
