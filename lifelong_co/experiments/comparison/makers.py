"""Which versions made the runs of a comparison, and a sentence if they are not the same."""

from collections.abc import Iterable

from lifelong_co.experiments.comparison.runs import Run


def mixed(runs: Iterable[Run]) -> str:
    """Return a sentence if runs were made by different versions of lifelong-co or torch.

    Versions are unknown for a run of a lifelong-co that did not note them. The sentence is empty
    if all runs, and all parts of each run, were made by the same versions.
    """
    made: dict[str, list[Run]] = {}
    for run in runs:
        for versions in run.made_by:
            made.setdefault(versions, []).append(run)
    if len(made) < 2:
        return ""
    each = "; ".join(f"{versions}: {_named(several)}" for versions, several in made.items())
    return f"these runs were made by different versions: {each}"


def _named(runs: list[Run]) -> str:
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    return f"{runs[0].path}{more}"
