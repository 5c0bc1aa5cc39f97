"""The report of compared runs: their metrics, curves, costs and settings."""

import itertools
from collections.abc import Mapping, Sequence

import attrs

from lifelong_co.experiments.comparison import figures, tables
from lifelong_co.experiments.comparison.comparison import Comparison, Group
from lifelong_co.experiments.comparison.labels import settings
from lifelong_co.experiments.comparison.makers import mixed
from lifelong_co.experiments.comparison.paired_table import paired_table, pairs_of, untested
from lifelong_co.experiments.comparison.selection import LISTED, MANY, sequence
from lifelong_co.experiments.comparison.selection import shown as listed
from lifelong_co.experiments.comparison.split_table import split_table
from lifelong_co.experiments.definitions import WORDS
from lifelong_co.experiments.references.gaps import MeanReferences
from lifelong_co.experiments.report import Part, Picture, Report, Section
from lifelong_co.experiments.sheet import Sheet, words

ABOUT = {
    "forgetting": (
        "Forgetting",
        "Test cost over the epochs of the whole run. A vertical line marks the start of a task."
        " Top left: the mean cost over the tasks learned so far; its level changes when a task is"
        " added to the mean. Top right: the mean gap of the same tasks to d*; the last point is AP."
        " If there are several tasks, both panels start with the second one. If all runs have the"
        " same task order, there is also a panel for each task. It is shaded while the task is"
        " learned, and the curve before is dotted (zero-shot). A rise after the shading is"
        " forgetting.",
    ),
    "plasticity": (
        "Plasticity",
        "Test cost on each task while it is learned. A curve starts with the zero-shot cost, from"
        " a test just before the task. The first task has no such test.",
    ),
}
"""Heading and explanation of each figure, by the name of its file."""

MATRICES = (
    " The picture has the whole matrix, of the first seed if there are several: the darker a cell,"
    " the larger the gap to d*."
)
BANDS = " A line is the mean over seeds, and a band shows their range."
LEAST = (
    "For all five metrics, lower is better. d* is the lowest mean cost on a task among all runs on"
    " this page{excepted}, {tests}."
)
EXCEPTED = " except multi-task ones, whose AP can be below 0"
COSTS = (
    "Mean test cost. A row holds the costs after learning the task it names; a column holds the"
    " costs on one tested task."
)
SHADED = " Shaded cells: tested just after learning the same task."
AT_ONCE = " A multi-task run learns all tasks at once: its table has one row, at the end."
EMPTY = " Empty cells: not measured. Each task is tested after the task before it, and at the end."
OPEN = 2
"""With more runs than this, the page shows cost matrices only after a click."""
TOP = ("problem", "solver", "method", "preset", "order")
"""Settings that are shown first."""


def make_report(
    comparison: Comparison,
    images: Mapping[str, bytes],
    references: MeanReferences | None = None,
) -> Report:
    """Return the report of a comparison.

    Parameters
    ----------
    comparison
        One or more runs.
    images
        PNGs by the names of `ABOUT`. For a missing one the report says how to get it. If there are
        many tasks, also ``costs``.
    references
        Mean reference costs of tasks; with them the report has optimality gaps.
    """
    runs, groups, problem = comparison.runs, comparison.groups, comparison.problem.upper()
    labels = ", ".join(group.label for group in groups)
    said = WORDS[comparison.definition]
    at_once = [run.knows_all_tasks for run in runs]
    excepted = EXCEPTED if any(at_once) and not all(at_once) else ""
    common = LEAST.format(tests=said.tests, excepted=excepted)
    measured = [_noted(tables.metrics_table(comparison), "", common=common)]
    without_tests = ""
    if pairs := pairs_of(comparison):
        tests = plain(paired_table(pairs))
        measured += [tests] if tests.rows else []
        without_tests = untested(comparison, tests)
    if (parts_of_ap := split_table(comparison)).rows:
        measured.append(plain(parts_of_ap))
    if references and references.means:
        measured.append(_noted(tables.gap_table(comparison, references), "Optimality gaps"))
    costs = [
        tables.cost_table(f"{group.label}, seed {run.config.seed}", run, run.cost)
        for group in groups
        for run in group.runs
    ]
    orders = "; ".join(dict.fromkeys(sequence(run.names) for run in runs))
    many, tasks = len(runs[0].names) > MANY, tuple(_tasks(groups))
    about, pictures = COSTS + SHADED * (not all(at_once)), tuple[Picture, ...]()
    if any(task.files for run in runs for task in run.config.tasks):
        about += f" {tables.IN_UNIT_SQUARE}"
    about += EMPTY * any(run.sparse for run in runs) + AT_ONCE * any(at_once)
    if "costs" in images:
        about += MATRICES
        drawn = [group.label for group in groups if not group.runs[0].knows_all_tasks]
        caption = f"Cost matrices of {', '.join(drawn)}"
        pictures = (Picture("costs", caption, images["costs"], wide=len(drawn) > 1),)
    warning = mixed(runs)
    warned = f" Warning: {warning}." if warning else ""
    sections = (
        Section("Metrics", without_tests, sheets=tuple(measured)),
        *(_figure(name, images.get(name), comparison) for name in ABOUT),
        Section("Costs", about, tuple(costs), pictures, folded=len(runs) > OPEN),
        Section("What was run", sheets=(_configuration(groups), *(() if many else tasks))),
        *([Section("Tasks", sheets=tasks, folded=True)] if many else []),
    )
    return Report(
        f"Lifelong run{'s compared' * (len(runs) > 1)}: {labels}",
        (Part("", "", sections),),
        tuple(references.notes) if references else (),
        said.meanings,
        f"{problem}, {len(runs[0].names)} tasks: {orders}.{warned}",
    )


def _noted(sheet: Sheet, title: str, common: str = "") -> Sheet:
    """Return a table with another title; its old title becomes the first sentence of the note."""
    note = f"{sheet.title}. {sheet.note}".strip()
    return plain(attrs.evolve(sheet, title=title, note=note, common=common))


def plain(sheet: Sheet) -> Sheet:
    """Return a table with the note as a page shows it."""
    return attrs.evolve(sheet, note=sheet.note.replace("10^-3", "10⁻³").replace(" - ", " − "))


def _figure(name: str, image: bytes | None, comparison: Comparison) -> Section:
    heading, text = ABOUT[name]
    drawn = comparison.one_by_one
    if drawn is None:
        return Section(
            heading, missing="needs runs of a method that learns one task after another."
        )
    if image is None:
        missing = f"needs matplotlib: `{figures.INSTALL}`, then make the report again."
        return Section(heading, missing=missing)
    labels = ", ".join(group.label for group in drawn.groups)
    seeds = BANDS * any(len(group.runs) > 1 for group in drawn.groups)
    picture = Picture(name, f"{heading} curves of {labels}", image, wide=True)
    return Section(heading, text + seeds, pictures=(picture,))


def _configuration(groups: Sequence[Group]) -> Sheet:
    flats = [settings(group.runs[0].config) for group in groups]
    known = dict.fromkeys(itertools.chain(TOP, *flats))
    keys = [key for key in known if key != "seed" and not key.startswith("tasks.")]
    table = [["setting", *(group.label for group in groups)]]
    table += [[key, *(_text(flat.get(key)) for flat in flats)] for key in keys]
    table += [
        ["seeds", *(", ".join(str(run.config.seed) for run in group.runs) for group in groups)],
        ["minutes of training per run", *map(_minutes, groups)],
        ["made by", *("\n".join(_makers(group)) for group in groups)],
        ["folders", *("\n".join(str(run.path) for run in group.runs) for group in groups)],
    ]
    return _words("settings", "", table)


def _tasks(groups: Sequence[Group]) -> list[Sheet]:
    """Return one table of tasks for all groups that have the same tasks."""
    shown: dict[str, Sheet] = {}
    for group in groups:
        every = group.runs[0].config.tasks
        tasks = [
            {"name": task.label} | {k: v for k, v in attrs.asdict(task).items() if k != "name"}
            for task in (every[j] for j in listed(len(every), LISTED))
        ]
        used = [key for key in tasks[0] if any(task[key] not in ("", None) for task in tasks)]
        table = [used, *([_text(task[key]) for key in used] for task in tasks)]
        title = "Tasks in the order of arrival"
        if len(tasks) < len(every):
            title += f", {len(tasks)} of {len(every)}; config.toml has all"
        shown[repr(table)] = _words("tasks", title, table)
    return list(shown.values())


def _words(key: str, title: str, table: Sequence[Sequence[str]]) -> Sheet:
    header, *rows = map(tuple, table)
    block = tuple(words(*row) for row in rows)
    return Sheet(key=key, title=title, header=header, blocks=(block,), left=len(header))


def _text(value: object) -> str:
    if value is None or value == "":
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _makers(group: Group) -> list[str]:
    return list(dict.fromkeys(versions for run in group.runs for versions in run.made_by))


def _minutes(group: Group) -> str:
    known = [run.seconds for run in group.runs if run.seconds is not None]
    return f"{sum(known) / len(known) / 60:.1f}" if known else "–"
