"""The tables of a sweep: mean, spread over orders and confidence over seeds of each metric."""

import statistics
from collections.abc import Iterator, Mapping

import attrs

from lifelong_co import metrics
from lifelong_co.config.run_config import Config
from lifelong_co.experiments import formats
from lifelong_co.experiments.comparison.comparison import Comparison, compare_runs
from lifelong_co.experiments.comparison.makers import mixed
from lifelong_co.experiments.comparison.runs import FinishedRun, final_note, in_one_place
from lifelong_co.experiments.comparison.tables import not_measured
from lifelong_co.experiments.references.gaps import MeanReferences, gaps, mean_references
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.experiments.spread import LEVEL, OVER_ORDERS, cell, over_orders
from lifelong_co.experiments.sweep import plan as planned
from lifelong_co.experiments.sweep.plan import Block, Plan, tasks_tested
from lifelong_co.experiments.sweep.ranges import show_ranges
from lifelong_co.tasks.orders import ORDERS

EXPLANATION = (
    "Metrics in 10^-3, lower is better: gaps (d - d*) / d*. d* is the lowest cost on a task among"
    " all finished runs\nof this sweep with the same solver and the same tasks, except multi-task"
    " runs.\n"
    "mean (s) ± c: mean over orders and seeds; s: sample standard deviation of the means of the"
    f" orders (with several orders);\nc: half-width of the {LEVEL:.0%} confidence interval over"
    " seeds (with several seeds), by Student's t from the mean of each seed over the orders."
)

PERCENT = ("percent", "percent_std_orders", f"percent_ci{LEVEL * 100:.0f}_seeds")
"""Endings of the CSV columns of the mean gap."""


@attrs.frozen
class Results:
    """The finished runs of a plan."""

    plan: Plan
    runs: Mapping[str, FinishedRun]
    comparisons: Mapping[tuple[str, str], Comparison]
    """By solver and tested instances (`tasks_tested`); each comparison has one ``d*``."""
    references: Mapping[str, MeanReferences] = attrs.field(factory=dict)
    """By tested instances; empty if no references were looked for."""

    def known(self, block: Block) -> MeanReferences | None:
        """Return the references for the tests of a table; None without references and notes."""
        names = (name for row in block.rows for _, _, name in row.cells if name in self.runs)
        first = next(names, None)  # all runs of a table are tested on the same instances
        found = self.references.get(tasks_tested(self.runs[first].config)) if first else None
        return found if found is not None and (found.means or found.notes) else None

    def finished(self, row: planned.Row) -> dict[tuple[str, int], FinishedRun]:
        """Return the finished runs of a row by order and seed."""
        return {(o, seed): self.runs[name] for o, seed, name in row.cells if name in self.runs}

    def metrics(self, row: planned.Row) -> list[Cell]:
        """Return one cell per metric, over the finished runs of a row."""
        values = {
            key: self.comparisons[compared(run.config)].metrics(run)
            for key, run in self.finished(row).items()
        }
        return [
            cell(over_orders({key: getattr(of, name) for key, of in values.items()}), OVER_ORDERS)
            for name in metrics.NAMES
        ]

    def missing(self, block: Block) -> list[str]:
        """Return the runs of a table that are not finished."""
        wanted = dict.fromkeys(name for row in block.rows for _, _, name in row.cells)
        return [name for name in wanted if name not in self.runs]


def gather(plan: Plan, places: Places | None = None) -> Results:
    """Read the finished runs of a plan and, if ``places`` are given, references of their tests."""
    found = {name: job.result() for name, job in plan.jobs.items()}
    return results_of(plan, {name: run for name, run in found.items() if run is not None}, places)


def results_of(
    plan: Plan, runs: Mapping[str, FinishedRun], places: Places | None = None
) -> Results:
    """Compare finished runs of a plan, by the names of their jobs."""
    runs = dict(zip(runs, in_one_place(runs.values()), strict=True))
    alike: dict[tuple[str, str], list[FinishedRun]] = {}
    for run in runs.values():
        alike.setdefault(compared(run.config), []).append(run)
    comparisons = {key: compare_runs(several) for key, several in alike.items()}
    references: dict[str, MeanReferences] = {}
    for (_, tested), several in alike.items():
        if places is not None and tested not in references:
            first = several[0]
            references[tested] = mean_references(first.config, places, held=first.data)
    return Results(plan, runs, comparisons, references)


def compared(config: Config) -> tuple[str, str]:
    """Return the solver and the tested instances; runs that share both have one ``d*`` (D.6)."""
    return config.solver, tasks_tested(config)


def table(results: Results, block: Block) -> Sheet:
    """Return one table: a row for each method, with the number of its runs and its metrics."""
    solver = _solver_shown(block)
    rows = []
    for row in block.rows:
        count = len(results.finished(row))
        runs = str(count) if count == len(row.cells) else f"{count} of {len(row.cells)}"
        rows.append((*words(row.label, *[row.solver] * solver, runs), *results.metrics(row)))
    return Sheet(
        key="metrics",
        title=title(block),
        header=("method", *["solver"] * solver, "runs", *metrics.NAMES),
        blocks=(tuple(rows),),
        best_of="none",
    )


def gap_table(results: Results, block: Block, references: MeanReferences) -> Sheet:
    """Return a row per method with a finished run: its mean gap and the gap on each task, in %."""
    solver, means = _solver_shown(block), references.means
    reference = ("reference", *[""] * solver, "", *(f"{mean:.4f}" for mean in means.values()))
    rows: list[Row] = [words(*reference)]
    runs: list[FinishedRun] = []
    for row in block.rows:
        found = results.finished(row)
        if found:
            runs += found.values()
            above = {key: gaps(run.final, means) for key, run in found.items()}
            each = (over_orders({key: of[t] for key, of in above.items()}).mean for t in means)
            cells = words(*(f"{value * 100:.2f}" for value in each))
            head = words(row.label, *[row.solver] * solver)
            rows.append((*head, _mean_gap(above), *cells))
    said = (
        "Optimality gaps in %: mean test cost after the last task divided by the mean reference"
        f" cost, minus 1; the mean over the tasks, and on each task. References {references.origin}"
    )
    return Sheet(
        key="gaps",
        title=said,
        header=("method", *["solver"] * solver, "mean gap", *means),
        blocks=(tuple(rows),),
        note=final_note(runs),
        best_of="none",
    )


def _mean_gap(above: Mapping[tuple[str, int], Mapping[str, float]]) -> Cell:
    """Return the spread of the mean gap over the tasks; ``above`` is by order, seed and task."""
    means = {key: statistics.fmean(of.values()) for key, of in above.items()}
    return cell(over_orders(means), PERCENT, scale=100, digits=2)


def _solver_shown(block: Block) -> bool:
    return len({row.solver for row in block.rows}) > 1


def title(block: Block) -> str:
    """Return the title of a table: its problem, orders and seeds."""
    cells = [cell for row in block.rows for cell in row.cells]
    orders = list(dict.fromkeys(order for order, _, _ in cells))
    numbers = [number for number in ORDERS if f"order{number}" in orders]
    shown = (
        f"order{'s' * (len(orders) > 1)} {show_ranges(numbers)}"
        if len(numbers) == len(orders)
        else ", ".join(orders)
    )
    seeds = list(dict.fromkeys(seed for _, seed, _ in cells))
    name = block.title if block.problem in block.title else f"{block.title}, {block.problem}"
    return f"{name}, {shown}, seed{'s' * (len(seeds) > 1)} {show_ranges(seeds)}"


def as_text(results: Results) -> str:
    """Return all tables as text."""
    parts = [f"{EXPLANATION}\n{not_measured(results.runs.values())}".rstrip() + "\n"]
    for block in results.plan.blocks:
        parts.append(formats.text(table(results, block)))
        parts[-1] += "".join(f"missing: {name}\n" for name in results.missing(block))
        if (known := results.known(block)) is not None:
            if known.means:
                parts.append(formats.text(gap_table(results, block, known)))
            parts[-1] += "".join(f"{note}\n" for note in known.notes)
    parts += [f"warning: {warning}\n" for warning in _warnings(results)]
    return "\n".join(parts)


def _warnings(results: Results) -> Iterator[str]:
    """Yield a sentence for what the runs of the tables, or of a row, should share but do not."""
    if warning := mixed(results.runs.values()):
        yield warning
    for row in (row for block in results.plan.blocks for row in block.rows):
        learned: dict[str, set[str]] = {}
        for (order, _), run in results.finished(row).items():
            for number, task in enumerate(run.config.tasks):
                learned.setdefault(f"{order} {number}", set()).add(task.files)
        for several in {tuple(sorted(files)) for files in learned.values() if len(files) > 1}:
            yield f"{row.label}: its runs learned files of different content: {', '.join(several)}"


def as_markdown(results: Results) -> str:
    """Return all tables as Markdown."""
    said = f"{EXPLANATION}\n{not_measured(results.runs.values())}".rstrip()
    parts = [said.replace("\n", " ") + "\n"]
    for block in results.plan.blocks:
        parts.append(formats.markdown(table(results, block)))
        names = results.missing(block)
        parts += [f"Missing: {', '.join(f'`{name}`' for name in names)}\n"] if names else []
        if (known := results.known(block)) is not None:
            if known.means:
                parts.append(formats.markdown(gap_table(results, block, known)))
            parts += [f"{note}\n" for note in known.notes]
    parts += [f"Warning: {warning}\n" for warning in _warnings(results)]
    return "\n".join(parts)


def as_csv(results: Results) -> str:
    """Return all tables as one CSV; metrics in 10^-3, an empty field for a missing number.

    If any table has references, more columns follow: mean gaps to them in per cent.
    """
    with_gaps = any(known.means for known in results.references.values())
    rows = []
    for block in results.plan.blocks:
        known = results.known(block)
        for row in block.rows:
            found = results.finished(row)
            head = (title(block), block.problem, row.solver, row.label)
            cells = (*words(*head, str(len(found)), str(len(row.cells))), *results.metrics(row))
            if with_gaps and known and known.means and found:
                above = {key: gaps(run.final, known.means) for key, run in found.items()}
                cells += (_mean_gap(above), *words(", ".join(known.means), known.origin))
            elif with_gaps:
                cells += (Cell("", dict.fromkeys(PERCENT, "")), *words("", ""))
            rows.append(cells)
    header = ("table", "problem", "solver", "method", "runs", "wanted", *metrics.NAMES)
    header += ("gap", "gap_tasks", "gap_references") if with_gaps else ()
    return formats.as_csv(Sheet(key="all", title="", header=header, blocks=(tuple(rows),)))
