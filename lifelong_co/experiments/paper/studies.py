"""Runs sorted for the paper's tables: by tasks, problem, solver, method, order and seed."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar

import attrs

from lifelong_co import metrics
from lifelong_co.experiments.comparison.comparison import (
    Comparison,
    Group,
    least_costs,
    measured,
)
from lifelong_co.experiments.comparison.runs import FinishedRun, in_one_place
from lifelong_co.experiments.paper import defaults, naming
from lifelong_co.experiments.spread import Spread, over_orders
from lifelong_co.problems.images import RANDOM
from lifelong_co.runs.data_files import tested

K = TypeVar("K")
Arrival = tuple[str, ...]
"""The names of the tasks in the order of arrival."""


@attrs.frozen
class Variant:
    """Runs of a method that differ only in order and seed."""

    method: str
    name: str
    """The name of the method, or how the variant differs from the default."""
    main: bool
    """Whether this is the default: the nearest to the preset; see `defaults.main_variant`."""
    runs: tuple[FinishedRun, ...]

    @property
    def title(self) -> str:
        """The name of the method, and how the variant differs from the default."""
        return self.name if self.main else f"{self.method} {self.name}"

    @property
    def orders(self) -> frozenset[Arrival]:
        """The orders of the runs."""
        return frozenset(run.names for run in self.runs)

    def of(self, order: Arrival) -> list[FinishedRun]:
        """Return the runs of one order."""
        return [run for run in self.runs if run.names == order]


@attrs.frozen
class Study:
    """All runs of one solver on one problem, with one ``d*`` (paper, appendix D.6)."""

    problem: str
    solver: str
    variants: tuple[Variant, ...]
    best: Mapping[str, float]
    """``d*`` by task name; see `least_costs`."""
    definition: str = "text"
    """Whose metrics, ``d*`` and deviations: one of `metrics.DEFINITIONS`."""

    @property
    def main(self) -> list[Variant]:
        """The default variant of each method."""
        return [variant for variant in self.variants if variant.main]

    @property
    def lifelong(self) -> list[Variant]:
        """The default variants of the methods that learn one task after another."""
        return [variant for variant in self.main if not variant.runs[0].knows_all_tasks]

    @property
    def orders(self) -> list[Arrival]:
        """The orders of all runs."""
        return list(dict.fromkeys(run.names for each in self.variants for run in each.runs))

    def runs(self, method: str, orders: Collection[Arrival]) -> list[FinishedRun]:
        """Return the runs of a method's default variant in some orders."""
        found = (run for variant in self.main if variant.name == method for run in variant.runs)
        return [run for run in found if run.names in orders]

    @property
    def alone(self) -> bool:
        """Whether there is one run of one task: its cost has nothing to be compared with."""
        return len(self.best) == 1 == sum(len(variant.runs) for variant in self.variants)

    def metrics(self, run: FinishedRun, k: int | None = None) -> metrics.Metrics:
        """Return the metrics after the first ``k`` tasks; None: after all."""
        return measured(run, None if self.alone else self.best, k, self.definition)

    def spreads(self, runs: Sequence[FinishedRun], k: int | None = None) -> dict[str, Spread]:
        """Return each metric over some runs of one variant, at least one."""
        values = {run.place: self.metrics(run, k) for run in runs}
        found = {
            name: {cell: getattr(value, name) for cell, value in values.items()}
            for name in metrics.NAMES
        }
        return {name: over_orders(each, self.definition) for name, each in found.items()}

    def comparison(self, order: Arrival) -> Comparison:
        """Return the comparison of the lifelong methods' default variants in one order."""
        found = [(each.name, tuple(each.of(order))) for each in self.lifelong]
        groups = [Group(name, runs) for name, runs in found if runs]
        return Comparison(tuple(groups), self.best, self.definition)


@attrs.frozen
class Chapter:
    """All runs on the same tasks; only these can be compared in one table."""

    key: str
    """Prefix of the names of its files."""
    title: str
    tasks: Arrival
    """The tasks, in the order of the columns of the tables."""
    studies: tuple[Study, ...]
    orders: Mapping[Arrival, str]
    """Every order to its name, sorted."""

    @property
    def definition(self) -> str:
        """The definition of the metrics, the same in all studies."""
        return self.studies[0].definition

    @property
    def problems(self) -> list[str]:
        """The problems, CVRP first as in the paper."""
        return sorted({study.problem for study in self.studies})

    @property
    def solvers(self) -> list[str]:
        """The solvers: that of the paper's main experiments first, then by the number of runs."""
        runs = Counter(study.solver for study, _, _ in self.runs())
        return sorted(runs, key=lambda name: (name != naming.SOLVER, -runs[name], name))

    def shown(self, orders: Collection[Arrival]) -> str:
        """Return the names of some orders in one text."""
        return ", ".join(name for order, name in self.orders.items() if order in orders)

    def of(self, solver: str) -> dict[str, Study]:
        """Return the studies of a solver by problem, in the order of `problems`."""
        found = {study.problem: study for study in self.studies if study.solver == solver}
        return {problem: found[problem] for problem in self.problems if problem in found}

    def runs(self) -> Iterator[tuple[Study, Variant, FinishedRun]]:
        """Yield every run with its study and its variant."""
        for study in self.studies:
            for variant in study.variants:
                for run in variant.runs:
                    yield study, variant, run


def chapters(runs: Sequence[FinishedRun], definition: str = "text") -> tuple[Chapter, ...]:
    """Sort runs into chapters, in the order in which their tasks first occur.

    All metrics are by one of `metrics.DEFINITIONS`.
    """
    groups = list(_grouped(in_one_place(runs), _tests).values())
    keys: list[str] = []
    for members in groups:
        config = members[0].config
        named = config.preset if config.order.isdecimal() else naming.order_name(config)
        keys.append(_free(naming.file_name(named), keys))
    found = tuple(
        _chapter(key, members, definition) for key, members in zip(keys, groups, strict=True)
    )
    titles = [chapter.title for chapter in found]
    return tuple(
        _named_apart(chapter) if titles.count(chapter.title) > 1 else chapter for chapter in found
    )


def _free(name: str, taken: Sequence[str]) -> str:
    """Return the name, or the first of ``name-2``, ``name-3``, ... that is not taken."""
    names = (f"{name}-{number}" if number > 1 else name for number in count(1))
    return next(each for each in names if each not in taken)


def _named_apart(chapter: Chapter) -> Chapter:
    """Return a chapter with its problems, its first and its last task in the title."""
    problems = ", ".join(problem.upper() for problem in chapter.problems)
    first, last = chapter.tasks[0], chapter.tasks[-1]
    return attrs.evolve(chapter, title=f"{chapter.title}: {problems}, {first} to {last}")


def _chapter(key: str, runs: Sequence[FinishedRun], definition: str) -> Chapter:
    named = {run.names: naming.order_name(run.config) for run in reversed(runs)}
    taken = [name for name, count in Counter(named.values()).items() if count > 1]
    named |= {names: " → ".join(names) for names, name in named.items() if name in taken}
    orders = dict(sorted(named.items(), key=lambda item: naming.order_rank(item[1])))
    presets = ", ".join(dict.fromkeys(run.config.preset for run in runs))
    tasks = next(iter(orders))
    return Chapter(
        key=key,
        title=f"Preset {presets}, {len(tasks)} task{'s' * (len(tasks) > 1)}",
        tasks=tasks,
        studies=tuple(
            _study(*place, each, definition) for place, each in _grouped(runs, _solved_by).items()
        ),
        orders=orders,
    )


def _study(problem: str, solver: str, runs: Sequence[FinishedRun], definition: str) -> Study:
    methods = _grouped(runs, lambda run: run.config.method)
    found: list[Variant] = []
    for method in sorted(methods, key=naming.rank):
        groups = list(_grouped(methods[method], lambda run: naming.identity(run.config)).values())
        main = groups.pop(defaults.main_variant([[run.config for run in each] for each in groups]))
        found.append(Variant(method, method, True, tuple(main)))
        names = [naming.variant_name(each[0].config, main[0].config) for each in groups]
        varied = []
        for name, each in zip(names, groups, strict=True):
            unique = name if names.count(name) == 1 else f"{name} [{each[0].path}]"
            varied.append(Variant(method, unique, False, tuple(each)))
        found += sorted(varied, key=lambda variant: naming.row_rank(variant.name))
    return Study(problem, solver, tuple(found), least_costs(runs, definition), definition)


def _grouped(
    runs: Iterable[FinishedRun], key: Callable[[FinishedRun], K]
) -> dict[K, list[FinishedRun]]:
    found: dict[K, list[FinishedRun]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return found


def _tests(run: FinishedRun) -> str:
    tasks = sorted(
        repr((task.label, task.tested, tested(run.data, task))) for task in run.config.tasks
    )
    return repr((run.config.tests, tasks))


def _solved_by(run: FinishedRun) -> tuple[str, str]:
    config = run.config
    turned = "random " * (config.symmetries == RANDOM)
    return config.problem, f"{config.solver}, 8 {turned}images" if config.augment else config.solver
