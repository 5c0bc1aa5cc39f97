"""Comparisons of runs: checked to be comparable, grouped over seeds, measured with one d*."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from lifelong_co import metrics
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison.instance_gaps import InstanceGaps, gaps_of_runs
from lifelong_co.experiments.comparison.labels import identity, label
from lifelong_co.experiments.comparison.runs import FinishedRun, in_one_place, load_run
from lifelong_co.experiments.references.gaps import gap
from lifelong_co.experiments.spread import Spread, spread
from lifelong_co.runs.data_files import tested
from lifelong_co.runs.measured import summarize


@attrs.frozen
class Group:
    """Runs that differ only in the seed."""

    label: str
    runs: tuple[FinishedRun, ...]

    @property
    def sequence(self) -> tuple[tuple[str, int], ...]:
        """Name and epochs of each task in the order of arrival."""
        return tuple(zip(self.runs[0].names, self.runs[0].epochs, strict=True))

    def cost(self, i: int, j: int) -> float:
        """Return `FinishedRun.cost`, as the mean over the runs."""
        return statistics.fmean(run.cost(i, j) for run in self.runs)

    @property
    def final(self) -> dict[str, float]:
        """`FinishedRun.final`, as the mean over the runs."""
        each = [run.final for run in self.runs]
        return {task: statistics.fmean(costs[task] for costs in each) for task in each[0]}


@attrs.frozen
class Comparison:
    """Comparable runs with their common ``d*``."""

    groups: tuple[Group, ...]
    best: Mapping[str, float]
    """``d*`` by task name; see `least_costs`."""
    definition: str = "text"
    """Whose metrics, ``d*``, deviations and gaps: one of `metrics.DEFINITIONS`."""
    instance_gaps: InstanceGaps = attrs.field(factory=dict)
    """With definition ``published``: the gaps of the runs."""
    styles: tuple[str, ...] = ()
    """Labels in the order of their colors, if other pictures have more groups; empty: `groups`."""

    def style(self, group: Group) -> int:
        """Return the place of a group's color and marker."""
        return (self.styles or tuple(other.label for other in self.groups)).index(group.label)

    @property
    def runs(self) -> tuple[FinishedRun, ...]:
        """All runs, group by group."""
        return tuple(run for group in self.groups for run in group.runs)

    @property
    def one_by_one(self) -> "Comparison | None":
        """The groups that learn one task after another, in their colors; None if there are none."""
        groups = tuple(each for each in self.groups if not each.runs[0].knows_all_tasks)
        styles = self.styles or tuple(each.label for each in self.groups)
        return attrs.evolve(self, groups=groups, styles=styles) if groups else None

    @property
    def problem(self) -> str:
        """The name of the problem."""
        return self.runs[0].config.problem

    @property
    def alone(self) -> bool:
        """Whether there is one run of one task: its cost has nothing to be compared with."""
        return len(self.runs) == len(self.best) == 1

    def metrics(self, run: FinishedRun) -> metrics.Metrics:
        """Return the metrics of one of the runs, with the common d*."""
        return measured(run, None if self.alone else self.best, definition=self.definition)

    def spread(self, group: Group, name: str) -> Spread:
        """Return the spread of a metric over the seeds; ``nan`` if it has no meaning."""
        return spread((getattr(self.metrics(run), name) for run in group.runs), self.definition)

    def gaps(self, group: Group, means: Mapping[str, float]) -> dict[str, float | None]:
        """Return the gaps of `Group.final` to mean references by task; None: not known."""
        published = self.instance_gaps if self.definition == "published" else None
        return gaps_of_runs(group.runs, means, published)


def least_costs(runs: Sequence[FinishedRun], definition: str = "text") -> dict[str, float]:
    """Return ``d*`` by task: the lowest cost of any lifelong run on the task (paper §4).

    Runs that learned all tasks at once count only if there are no other runs.

    Parameters
    ----------
    runs
        The runs, at least one.
    definition
        ``text``: the costs after learning each task. ``published``: the costs of every test, also
        of those during a task, as in the official ``compare_paper.py:337-370``.
    """
    lifelong = [run for run in runs if not run.knows_all_tasks] or runs
    each = [run.least if definition == "published" else run.least_after for run in lifelong]
    return {name: min(costs[name] for costs in each) for name in each[0]}


def measured(
    run: FinishedRun,
    best: Mapping[str, float] | None,
    k: int | None = None,
    definition: str = "text",
) -> metrics.Metrics:
    """Return the metrics of a run after its first ``k`` tasks; None: after all tasks.

    ``best`` is ``d*`` by task name; None: the lowest costs of these tests of the run.

    Metrics without a meaning (`metrics.meaningful`) or not measured are ``nan``. With definition
    ``published`` AP is the performance on the first ``k`` tasks after learning all tasks, because
    the official script takes the last test of the run (``compare_paper.py:233``).
    """
    d_star = None if best is None else [best[name] for name in run.names[:k]]
    found = summarize(run.rows[:k], d_star, definition=definition)
    if definition == "published" and k is not None and d_star is not None:
        at_end = [gap(run.rows[-1][j], least) for j, least in enumerate(d_star)]
        found = attrs.evolve(found, AP=statistics.fmean(at_end))
    return metrics.meaningful(found, knows_all_tasks=run.knows_all_tasks)


def compare_folders(paths: Sequence[Path | str], definition: str = "text") -> Comparison:
    """Read finished run folders and compare the runs by one of `metrics.DEFINITIONS`.

    Raises
    ------
    ConfigError
        If a folder is not a finished run or is given twice, or the runs cannot be compared.
    FileFormatError
        If a file has errors.
    """
    seen: set[Path] = set()
    for path in map(Path, paths):
        if path.resolve() in seen:
            raise ConfigError(f"{path}: the same run is given twice")
        seen.add(path.resolve())
    return compare_runs([load_run(path) for path in paths], definition)


def compare_runs(runs: Sequence[FinishedRun], definition: str = "text") -> Comparison:
    """Compare runs; groups are in the order in which they first occur.

    Raises
    ------
    ConfigError
        If there is no run, or two runs differ in the problem, the set of tasks or the tests.
    """
    if not runs:
        raise ConfigError("runs: expected at least one run folder, got none")
    for run in runs[1:]:
        _check_comparable(runs[0], run)
    runs = in_one_place(runs)
    return Comparison(_group(runs), least_costs(runs, definition), definition)


def _group(runs: Sequence[FinishedRun]) -> tuple[Group, ...]:
    alike: dict[str, list[FinishedRun]] = {}
    for run in runs:
        alike.setdefault(identity(run.config), []).append(run)
    groups: list[Group] = []
    labels = label([members[0].config for members in alike.values()])
    for name, members in zip(labels, alike.values(), strict=True):
        if len({run.seed for run in members}) == len(members):
            groups.append(Group(name, tuple(members)))
        else:  # Two runs with the same seed do not form a group: only their folders differ.
            groups += [Group(f"{name} [{run.path}]", (run,)) for run in members]
    names = [group.label for group in groups]
    return tuple(
        group if names.count(group.label) == 1
        else attrs.evolve(group, label=f"{group.label} [{group.runs[0].path}]")
        for group in groups
    )  # fmt: skip


def _check_comparable(first: FinishedRun, other: FinishedRun) -> None:
    def refuse(what: str, one: object, two: object) -> None:
        if one != two:
            raise ConfigError(
                f"{first.path} and {other.path} cannot be compared: {what}: {one} and {two}"
            )

    one, two = first.config, other.config
    refuse("problem", one.problem, two.problem)
    if set(first.names) != set(other.names):
        only = [
            f"only {run.path} has {', '.join(name for name in run.names if name not in them)}"
            for run, them in ((first, other.names), (other, first.names))
            if not {*run.names} <= {*them}
        ]
        raise ConfigError(
            f"{first.path} and {other.path} cannot be compared: {'; '.join(only)}; a finished run"
            " can get further tasks"
        )
    refuse("test instances of a task", one.tests, two.tests)
    refuse("augmentation at test", one.augment, two.augment)
    refuse("images at test", one.augment and one.symmetries, two.augment and two.symmetries)
    theirs = {task.label: task.tested for task in two.tasks}
    for task in one.tasks:
        contents = [tested(run.data, task) for run in (first, other)]
        known = None not in contents  # a run of an earlier version does not know it
        for key, value in task.tested.items():
            if not (known and key == "test files"):  # the same files may have moved
                refuse(f"task {task.label}, {key}", value, theirs[task.label][key])
        if known:
            refuse(f"task {task.label}, SHA-256 of the test files", *contents)
