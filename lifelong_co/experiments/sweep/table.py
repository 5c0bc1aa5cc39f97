"""The table a sweep ends in: mean, spread over orders and confidence over seeds of each metric."""

import csv
import io
from collections.abc import Mapping

import attrs

from lifelong_co import metrics
from lifelong_co.config.run_config import Config
from lifelong_co.experiments.comparison.comparison import Comparison, compare_runs
from lifelong_co.experiments.comparison.gaps import MeanReferences, mean_references
from lifelong_co.experiments.comparison.runs import Run, load_run
from lifelong_co.experiments.comparison.tables import SCALE, Table, align, markdown
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.sweep import gaps
from lifelong_co.experiments.sweep.plan import Block, Plan, Row, tasks_tested
from lifelong_co.experiments.sweep.ranges import show_ranges
from lifelong_co.experiments.sweep.spread import Spread, show, spread
from lifelong_co.experiments.sweep.student import LEVEL

EXPLANATION = (
    "Metrics in 10^-3, lower is better; gaps (d - d*) / d* to the least cost d* on each task of all"
    " finished runs of this sweep\nof one solver on the same tasks, multi-task aside.\n"
    "mean (s) ± c: mean over orders and seeds; s: sample standard deviation of the orders' means"
    f" (where there are several orders); c: half-width of the {LEVEL:.0%} confidence interval\n"
    "over the seeds (where there are several), by Student's t on the seeds' means over the orders."
)


@attrs.frozen
class Results:
    """The finished runs of a plan."""

    plan: Plan
    runs: Mapping[str, Run]
    comparisons: Mapping[tuple[str, str], Comparison]
    """By solver and what is tested; each has a ``d*`` of its own."""
    references: Mapping[str, MeanReferences] = attrs.field(factory=dict)
    """By what is tested, where they were looked for."""

    def known(self, block: Block) -> MeanReferences | None:
        """Return what was found about the tests of a table; None where there is nothing to say."""
        names = (name for row in block.rows for _, _, name in row.cells if name in self.runs)
        first = next(names, None)  # the runs of a table are tested alike
        found = self.references.get(tasks_tested(self.runs[first].config)) if first else None
        return found if found is not None and (found.means or found.notes) else None

    def spreads(self, row: Row) -> dict[str, Spread]:
        """Return the spread of every metric over the finished runs of a row; empty if none is."""
        values: dict[tuple[str, int], metrics.Metrics] = {}
        for order, seed, name in row.cells:
            if name in self.runs:
                run = self.runs[name]
                comparison = self.comparisons[compared(run.config)]
                values[order, seed] = comparison.metrics(run)
        if not values:
            return {}
        return {
            name: spread({cell: getattr(value, name) for cell, value in values.items()})
            for name in metrics.NAMES
        }

    def missing(self, block: Block) -> list[str]:
        """Return the runs of a table that are not finished."""
        wanted = dict.fromkeys(name for row in block.rows for _, _, name in row.cells)
        return [name for name in wanted if name not in self.runs]


def gather(plan: Plan, places: Places | None = None) -> Results:
    """Read the finished runs of a plan and, where places are given, references of their tests."""
    runs = {name: load_run(job.folder) for name, job in plan.jobs.items() if job.finished}
    alike: dict[tuple[str, str], list[Run]] = {}
    for run in runs.values():
        alike.setdefault(compared(run.config), []).append(run)
    comparisons = {key: compare_runs(several) for key, several in alike.items()}
    references: dict[str, MeanReferences] = {}
    for (_, tested), several in alike.items():
        if places is not None and tested not in references:
            references[tested] = mean_references(several[0].config, places)
    return Results(plan, runs, comparisons, references)


def compared(config: Config) -> tuple[str, str]:
    """Return what runs share whose costs give one ``d*``: the solver, too (paper, appendix D.6)."""
    return config.solver, tasks_tested(config)


def table(results: Results, block: Block) -> Table:
    """Return header and rows of one table."""
    several = len({row.solver for row in block.rows}) > 1
    lines = [["method", *(["solver"] if several else []), "runs", *metrics.NAMES]]
    for row in block.rows:
        found = results.spreads(row)
        count = sum(name in results.runs for _, _, name in row.cells)
        runs = str(count) if count == len(row.cells) else f"{count} of {len(row.cells)}"
        cells = [show(found[name]) if found else "-" for name in metrics.NAMES]
        lines.append([row.label, *([row.solver] if several else []), runs, *cells])
    return lines


def title(block: Block) -> str:
    """Return the problem, orders and seeds of a table."""
    cells = [cell for row in block.rows for cell in row.cells]
    orders = list(dict.fromkeys(order for order, _, _ in cells))
    numbers = [order.removeprefix("order") for order in orders]
    shown = (
        f"order{'s' * (len(orders) > 1)} {show_ranges([int(n) for n in numbers])}"
        if all(number.isdigit() for number in numbers)
        else ", ".join(orders)
    )
    seeds = list(dict.fromkeys(seed for _, seed, _ in cells))
    name = block.title if block.problem in block.title else f"{block.title}, {block.problem}"
    return f"{name}, {shown}, seed{'s' * (len(seeds) > 1)} {show_ranges(seeds)}"


def as_text(results: Results) -> str:
    """Return all tables as text."""
    parts = [EXPLANATION]
    for block in results.plan.blocks:
        parts += ["", title(block), "", align(table(results, block), left=1)]
        parts += [f"missing: {name}" for name in results.missing(block)]
        if (known := results.known(block)) is not None:
            if known.means:
                shown = align(gaps.gap_table(block, results.runs, known), left=1)
                parts += ["", gaps.caption(known), "", shown]
            parts += known.notes
    return "\n".join(parts) + "\n"


def as_markdown(results: Results) -> str:
    """Return all tables as Markdown."""
    parts = [EXPLANATION.replace("\n", " ")]
    for block in results.plan.blocks:
        parts += ["", f"**{title(block)}**", "", markdown(table(results, block))]
        names = results.missing(block)
        parts += ["", f"Missing: {', '.join(f'`{name}`' for name in names)}"] if names else []
        if (known := results.known(block)) is not None:
            if known.means:
                shown = markdown(gaps.gap_table(block, results.runs, known))
                parts += ["", gaps.caption(known), "", shown]
            parts += [line for note in known.notes for line in ("", note)]
    return "\n".join(parts) + "\n"


def as_csv(results: Results) -> str:
    """Return all tables as one CSV; in 10^-3, empty where there is no such number.

    Where any table has references, columns follow with mean gaps to them in per cent.
    """
    kinds = ("", "_std_orders", f"_ci{LEVEL * 100:.0f}_seeds")
    columns = [f"{name}{kind}_1e-3" for name in metrics.NAMES for kind in kinds]
    more = gaps.COLUMNS if any(known.means for known in results.references.values()) else ()
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["table", "problem", "solver", "method", "runs", "wanted", *columns, *more])
    for block in results.plan.blocks:
        known = results.known(block)
        for row in block.rows:
            found = results.spreads(row)
            numbers = [v for name in found for v in attrs.astuple(found[name])]
            cells = ["" if v is None or v != v else f"{v * SCALE:.6g}" for v in numbers]
            count = sum(name in results.runs for _, _, name in row.cells)
            head = [title(block), block.problem, row.solver, row.label, count, len(row.cells)]
            beside = gaps.csv_cells(row, results.runs, known) if more else []
            writer.writerow([*head, *(cells or [""] * len(columns)), *beside])
    return lines.getvalue()
