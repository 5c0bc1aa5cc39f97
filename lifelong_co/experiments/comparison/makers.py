"""Which versions and starts made the runs of a comparison, and a sentence if they differ."""

from collections.abc import Iterable, Sequence

from lifelong_co.experiments.comparison.runs import FinishedRun


def mixed(runs: Iterable[FinishedRun]) -> str:
    """Return a sentence if runs were made by different versions of lifelong-co, torch or a plugin.

    Also if they began from different checkpoints of one folder. Versions are unknown for a run of a
    lifelong-co that did not note them. The sentence is empty if all runs, and all parts of each
    run, were made by the same versions.
    """
    runs = list(runs)
    return "; ".join(each for each in (_versions(runs), _starts(runs)) if each)


def _starts(runs: Sequence[FinishedRun]) -> str:
    began: dict[str, dict[str, list[FinishedRun]]] = {}
    for run in runs:
        for name, digest in run.starts.items():
            place = f"{name} {getattr(run.config, name)}"
            began.setdefault(place, {}).setdefault(digest, []).append(run)
    each = [
        f"{place}: {'; '.join(map(_named, of.values()))}"
        for place, of in began.items()
        if len(of) > 1
    ]
    said = "these runs began from different checkpoints of one folder"
    return f"{said}: {', '.join(each)}" if each else ""


def _versions(runs: Sequence[FinishedRun]) -> str:
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
