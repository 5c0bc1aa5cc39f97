"""Finished runs side by side: what ``lifelong-co compare`` does, as a function."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.api.stored import StoredRun, folder_of, listed
from lifelong_co.experiments.comparison import tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.instance_gaps import instance_gaps
from lifelong_co.experiments.comparison.publish import write_report
from lifelong_co.experiments.references.gaps import MeanReferences, mean_references
from lifelong_co.experiments.references.places import Places
from lifelong_co.tensors.device import chosen_device


@attrs.frozen
class ComparedRuns:
    """A comparison of runs with a common ``d*``; ``print`` shows it as a table."""

    comparison: Comparison
    references: MeanReferences
    """Near-optimal costs of the tasks, for gaps."""

    def __str__(self) -> str:
        return tables.as_text(self.comparison, self.references)

    def as_json(self) -> dict[str, Any]:
        """Return metrics and costs as JSON values, as ``lifelong-co compare --format json``."""
        return dict(tables.as_json(self.comparison, self.references.means))

    def write(
        self, folder: Path | str, *, overwrite: bool = False, split: bool = False
    ) -> list[Path]:
        """Write tables, figures and ``report.html`` to a folder, and return their paths.

        With ``split`` the tables also say what was never learned, forgotten and gained back.
        """
        return write_report(
            self.comparison, folder, overwrite=overwrite, references=self.references, split=split
        )


def compare(
    runs: Sequence[StoredRun | Path | str],
    *,
    references: Path | str | None = None,
    published: bool = False,
) -> ComparedRuns:
    """Compare finished runs of the same problem and test tasks.

    Runs that differ only in the seed become one row with mean and standard deviation.

    Parameters
    ----------
    runs
        Runs or their folders, at least one.
    references
        A folder of near-optimal costs, for gaps. None: ``references``.
    published
        Compute as the script of the paper's tables, not as the paper's text.

    Raises
    ------
    ConfigError
        If a run is not finished or given twice, or the runs cannot be compared.
    """
    places = Places() if references is None else Places(Path(references))
    folders = [folder_of(run) for run in listed("runs", runs, "runs or folders")]
    return compared(folders, places, published=published)


def compared(
    folders: Sequence[Path],
    places: Places,
    *,
    published: bool,
    log: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> ComparedRuns:
    """Compare run folders with the references of some places; ``log`` is called with notes."""
    comparison = compare_folders(folders, "published" if published else "text")
    first = comparison.runs[0]
    found = mean_references(first.config, places, held=first.data)
    if published:
        gaps = instance_gaps(comparison.runs, found, chosen_device("auto"), log)
        comparison = attrs.evolve(comparison, instance_gaps=gaps)
    return ComparedRuns(comparison, found)
