"""Makes a report: all sections for which there are runs, and why the others are missing."""

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import TypeVar

import attrs

from lifelong_co.errors import LifelongError
from lifelong_co.experiments.benchmark.known import with_references
from lifelong_co.experiments.benchmark.results import Benchmark
from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.comparison.makers import mixed
from lifelong_co.experiments.comparison.selection import sequence
from lifelong_co.experiments.definitions import WORDS
from lifelong_co.experiments.paired import ALIKE
from lifelong_co.experiments.paper import metric_tables, paired_tables
from lifelong_co.experiments.paper.benchmark_tables import benchmark_sheets
from lifelong_co.experiments.paper.buffer_section import buffer_section
from lifelong_co.experiments.paper.collect import Found
from lifelong_co.experiments.paper.cost_tables import cost_sheets
from lifelong_co.experiments.paper.curve_pictures import curve_pictures
from lifelong_co.experiments.paper.drift_section import drift_sections
from lifelong_co.experiments.paper.naming import file_name, order_title
from lifelong_co.experiments.paper.studies import Chapter, chapters
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.report import Part, Picture, Report, Section
from lifelong_co.experiments.sheet import Sheet

T = TypeVar("T", Sheet, Picture)

CURVES = (
    "Forgetting: the mean over the tasks learned so far; its level changes when a task is added to"
    " the mean. As in the paper, the curves start with the second task, if there is one. A vertical"
    " line marks the start of a task. Plasticity: the cost on each task while it is learned; its"
    " curve starts with the zero-shot cost."
)


def make_report(
    found: Found,
    places: Places,
    log: Callable[[str], None],
    *,
    definition: str = "text",
    device: str = "cpu",
) -> Report:
    """Return the report of runs and benchmarks.

    Parameters
    ----------
    found
        The runs and benchmarks.
    places
        The folders in which references are looked for.
    log
        Called with a line of text before each step that takes long, and with a warning if the
        runs were made by different versions.
    definition
        Whose metrics, ``d*``, deviations and gaps: one of `metrics.DEFINITIONS`.
    device
        Where test instances are solved, if they have to be.
    """
    made = chapters(found.runs, definition)
    left_out = list(found.left_out)
    problems = {problem for chapter in made for problem in chapter.problems}
    left_out += [
        f"{start.path}: needs runs on {start.config.problem}, whose test instances it solves"
        for start in found.starts
        if start.config.problem not in problems
    ]
    parts = []
    for chapter in made:
        costs, notes = cost_sheets(chapter, places, starts=found.starts, device=device, log=log)
        prefix = f"{chapter.key}-" if len(made) > 1 else ""
        parts.append((prefix, _part(chapter, costs, log)))
        left_out += notes
    solved, notes = _known_now(found.benchmarks, places.own)
    left_out += notes
    benchmarks = Section(
        "Benchmark instances",
        sheets=tuple(benchmark_sheets(solved)),
        missing="needs a folder of `lifelong-co benchmark --out`, with its results.json.",
    )
    parts.append(("", Part("TSPLIB and CVRPLIB", "", (benchmarks,))))
    runs = len(found.runs)
    title = f"Lifelong learning: {runs} run{'s' * (runs != 1)}" if runs else "Benchmark instances"
    warning = mixed(found.runs)
    if warning:
        log(f"warning: {warning}")
    text = f"Warning: {warning}." if warning else ""
    return Report(title, tuple(apart(parts)), tuple(left_out), WORDS[definition].meanings, text)


def _known_now(
    benchmarks: Sequence[Benchmark], references: Path
) -> tuple[list[Benchmark], list[str]]:
    """Return benchmarks with the present references, and notes about those that are unreadable."""
    solved, notes = [], []
    for each in benchmarks:
        try:
            solved.append(with_references(each, references))
        except LifelongError as error:
            solved.append(each)
            notes.append(f"references of {each.folder}: {error}")
    return solved, notes


def _part(chapter: Chapter, costs: Sequence[Sheet], log: Callable[[str], None]) -> Part:
    log(f"{chapter.title}: curves")
    curves = curve_pictures(chapter) if figures.available() else []
    sections = (
        Section(
            "Metrics over the task orders",
            sheets=tuple(metric_tables.over_orders(chapter)),
            missing="needs runs of a lifelong-learning method.",
        ),
        Section(
            "Hyperparameters and ablations",
            sheets=tuple(metric_tables.varied(chapter)),
            missing="needs runs of one method with other options, for example from"
            " `lifelong-co sweep --methods llr-bc --ablations nEW,KLD`.",
        ),
        Section(
            "Applicability to other solvers",
            sheets=tuple(metric_tables.applicability(chapter)),
            missing=f"needs runs of another solver than {chapter.solvers[0]}.",
        ),
        Section(
            "Each order",
            sheets=tuple(metric_tables.per_order(chapter)),
            missing="needs runs of a lifelong-learning method.",
        ),
        paired_section(paired_tables.paired(chapter)),
        Section(
            "What AP consists of",
            sheets=tuple(paired_tables.split(chapter)),
            missing="needs runs of a lifelong-learning method, and several tasks or runs.",
        ),
        Section("Costs and optimality gaps", sheets=tuple(costs)),
        Section(
            "Forgetting and plasticity",
            CURVES,
            pictures=tuple(curves),
            missing="needs runs of a lifelong-learning method."
            if figures.available()
            else f"needs matplotlib: {figures.INSTALL}.",
        ),
        buffer_section(chapter, log),
        *drift_sections(chapter, log),
        Section("The runs", sheets=(metric_tables.all_runs(chapter),), folded=True),
    )
    orders = "; ".join(f"{order_title(n)}: {sequence(o)}" for o, n in chapter.orders.items())
    return Part(chapter.title, f"Tasks in {orders}.", sections)


def paired_section(sheets: Sequence[Sheet]) -> Section:
    """Return the section of paired tests; tables without a test only add their notes."""
    said = " ".join(dict.fromkeys(sheet.note for sheet in sheets if not sheet.rows))
    tested = tuple(sheet for sheet in sheets if sheet.rows)
    needed = f"runs of at least two methods or settings with the same seeds, {ALIKE}"
    missing = said or f"needs {needed}."
    return Section("Paired tests", said if tested else "", sheets=tested, missing=missing)


def apart(parts: Iterable[tuple[str, Part]]) -> list[Part]:
    """Return parts, each given with a prefix, whose files have valid and different names.

    Where two tables or two figures would have one name, ``-2`` is added. Capital letters do not
    make a difference: some file systems know none.
    """
    tables: set[str] = set()
    figures: set[str] = set()

    def renamed(each: T, prefix: str, taken: set[str]) -> T:
        key = file_name(prefix + each.key)
        names = (f"{key}-{k}" if k > 1 else key for k in count(1))
        name = next(name for name in names if name.lower() not in taken)
        taken.add(name.lower())
        return attrs.evolve(each, key=name)

    def section(each: Section, prefix: str) -> Section:
        return attrs.evolve(
            each,
            sheets=tuple(renamed(sheet, prefix, tables) for sheet in each.sheets),
            pictures=tuple(renamed(picture, prefix, figures) for picture in each.pictures),
        )

    return [
        attrs.evolve(part, sections=tuple(section(each, prefix) for each in part.sections))
        for prefix, part in parts
    ]
