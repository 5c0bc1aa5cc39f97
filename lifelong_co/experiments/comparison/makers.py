"""Which versions made the runs of a comparison, and a sentence if they are not the same."""

from collections.abc import Iterable

from lifelong_co.experiments.comparison.runs import FinishedRun


def mixed(runs: Iterable[FinishedRun]) -> str:
    """Return a sentence if runs were made by different versions of lifelong-co, torch or a plugin.

    Versions are unknown for a run of a lifelong-co that did not note them. The sentence is empty
    if all runs, and all parts of each run, were made by the same versions.
    """
    runs = list(runs)
    made: dict[str, list[FinishedRun]] = {}
    plugins: dict[str, dict[str, list[FinishedRun]]] = {}
    for run in runs:
        for versions in run.made_by:
            made.setdefault(versions, []).append(run)
        for owner, version in sorted(run.plugins):
            plugins.setdefault(owner, {}).setdefault(f"{owner} {version}", []).append(run)
    made = made if len(made) > 1 else {}
    for of_owner in plugins.values():
        made |= of_owner if len(of_owner) > 1 else {}
    if not made:
        return ""
    if len(runs) == 1:  # it was resumed by another version
        return f"this run was made by several versions: {'; '.join(made)}"
    each = "; ".join(f"{versions}: {_named(several)}" for versions, several in made.items())
    return f"these runs were made by different versions: {each}"


def _named(runs: list[FinishedRun]) -> str:
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    return f"{runs[0].path}{more}"
