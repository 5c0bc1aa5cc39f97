"""Runs sorted as the paper's tables need them: by tasks, problem, solver, method, order, seed."""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from lifelong_co import metrics, registry
from lifelong_co.config.run_config import Config
from lifelong_co.experiments.comparison.comparison import Comparison, Group
from lifelong_co.experiments.comparison.measured import least_costs, measured
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.paper import naming
from lifelong_co.experiments.sweep.spread import Spread, spread

Arrival = tuple[str, ...]
"""The names of the tasks in the order of arrival."""


@attrs.frozen
class Variant:
    """Runs of a method that differ in order and seed only."""

    method: str
    name: str
    """The method's, or how it differs from the method as it is."""
    main: bool
    """Whether this is the method as it is."""
    runs: tuple[Run, ...]

    @property
    def title(self) -> str:
        """The method's name, and how it differs from the method as it is."""
        return self.name if self.main else f"{self.method} {self.name}"

    def of(self, order: Arrival) -> list[Run]:
        """Return the runs of one order."""
        return [run for run in self.runs if run.names == order]


@attrs.frozen
class Study:
    """All runs of one solver on one problem, against one ``d*`` (paper, appendix D.6)."""

    problem: str
    solver: str
    variants: tuple[Variant, ...]
    best: Mapping[str, float]
    """``d*`` by task name; see `measured.least_costs`."""

    @property
    def main(self) -> list[Variant]:
        """The methods as they are."""
        return [variant for variant in self.variants if variant.main]

    @property
    def lifelong(self) -> list[Variant]:
        """Those that learn one task after another."""
        return [variant for variant in self.main if not registry.knows_all_tasks(variant.method)]

    @property
    def orders(self) -> list[Arrival]:
        """The orders that any of the runs has."""
        return list(dict.fromkeys(run.names for each in self.variants for run in each.runs))

    def metrics(self, run: Run, k: int | None = None) -> metrics.Metrics:
        """Return the metrics after the first ``k`` tasks; after all when None."""
        return measured(run, self.best, k)

    def spreads(self, runs: Sequence[Run], k: int | None = None) -> dict[str, Spread]:
        """Return each metric over some runs of one variant, at least one."""
        values = {(repr(run.names), run.config.seed): self.metrics(run, k) for run in runs}
        return {
            name: spread({cell: getattr(value, name) for cell, value in values.items()})
            for name in metrics.NAMES
        }

    def comparison(self, order: Arrival) -> Comparison:
        """Return the lifelong methods as they are in one order, side by side."""
        found = [(each.name, tuple(each.of(order))) for each in self.lifelong]
        groups = [Group(name, runs) for name, runs in found if runs]
        return Comparison(tuple(groups), self.best)


@attrs.frozen
class Chapter:
    """All runs on the same tasks: what a table of the paper may set side by side."""

    key: str
    """Name of its files."""
    title: str
    tasks: Arrival
    """In the order of the tables' columns."""
    studies: tuple[Study, ...]
    orders: Mapping[Arrival, str]
    """Every order to its name, sorted."""

    @property
    def problems(self) -> list[str]:
        """The problems, CVRP first as in the paper."""
        return sorted({study.problem for study in self.studies})

    @property
    def solvers(self) -> list[str]:
        """The solvers: that of the paper's main experiments first, then by the number of runs."""
        runs: dict[str, int] = {}
        for study in self.studies:
            count = sum(len(variant.runs) for variant in study.variants)
            runs[study.solver] = runs.get(study.solver, 0) + count
        return sorted(runs, key=lambda name: (name != "pomo", -runs[name], name))

    def of(self, solver: str) -> dict[str, Study]:
        """Return the studies of a solver by problem, in the order of `problems`."""
        found = {study.problem: study for study in self.studies if study.solver == solver}
        return {problem: found[problem] for problem in self.problems if problem in found}

    def runs(self) -> Iterator[tuple[Study, Variant, Run]]:
        """Yield every run with where it stands."""
        for study in self.studies:
            for variant in study.variants:
                for run in variant.runs:
                    yield study, variant, run


def chapters(runs: Sequence[Run]) -> tuple[Chapter, ...]:
    """Sort runs into chapters, in the order in which their tasks first occur."""
    alike: dict[str, list[Run]] = {}
    for run in runs:
        alike.setdefault(_tasks_key(run.config), []).append(run)
    keys: list[str] = []
    for members in alike.values():
        config = members[0].config
        named = config.preset if config.order.isdigit() else naming.order_name(config)
        keys.append(naming.file_name(named))
    return tuple(
        _chapter(f"{key}-{keys[:i].count(key) + 1}" if key in keys[:i] else key, members)
        for i, (key, members) in enumerate(zip(keys, alike.values(), strict=True))
    )


def _chapter(key: str, runs: Sequence[Run]) -> Chapter:
    named: dict[Arrival, str] = {}
    for run in runs:
        name = naming.order_name(run.config)
        if run.names not in named and name in named.values():
            name = " → ".join(run.names)
        named.setdefault(run.names, name)
    orders = dict(sorted(named.items(), key=lambda item: naming.order_rank(item[1])))
    alike: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        alike.setdefault((run.config.problem, _solver(run.config)), []).append(run)
    presets = ", ".join(dict.fromkeys(run.config.preset for run in runs))
    tasks = next(iter(orders))
    return Chapter(
        key=key,
        title=f"Preset {presets}, {len(tasks)} task{'s' * (len(tasks) > 1)}",
        tasks=tasks,
        studies=tuple(_study(*place, members) for place, members in alike.items()),
        orders=orders,
    )


def _study(problem: str, solver: str, runs: Sequence[Run]) -> Study:
    alike: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        variants = alike.setdefault(run.config.method, {})
        variants.setdefault(naming.identity(run.config), []).append(run)
    found: list[Variant] = []
    for method in sorted(alike, key=naming.rank):
        groups = list(alike[method].values())
        main = naming.main_variant([[run.config for run in group] for group in groups])
        usual = groups[main][0].config
        found.append(Variant(method, method, True, tuple(groups[main])))
        others = [group for i, group in enumerate(groups) if i != main]
        names = [naming.variant_name(group[0].config, usual) for group in others]
        varied = [
            Variant(
                method,
                name if names.count(name) == 1 else f"{name} [{group[0].path}]",
                False,
                tuple(group),
            )
            for name, group in zip(names, others, strict=True)
        ]
        found += sorted(varied, key=lambda variant: naming.row_rank(variant.name))
    return Study(problem, solver, tuple(found), least_costs(runs))


def _tasks_key(config: Config) -> str:
    tasks = sorted(repr((task.label, task.tested)) for task in config.tasks)
    return repr((config.tests, tasks))


def _solver(config: Config) -> str:
    return f"{config.solver}, 8 images" if config.augment else config.solver
