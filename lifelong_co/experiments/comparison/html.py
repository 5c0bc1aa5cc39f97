"""One self-contained page about compared runs: no request leaves it, and every name is escaped."""

import base64
from collections.abc import Mapping, Sequence
from html import escape

import attrs

from lifelong_co.experiments.comparison import figures, tables
from lifelong_co.experiments.comparison.comparison import Comparison, Group
from lifelong_co.experiments.comparison.labels import settings
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.comparison.style import STYLE
from lifelong_co.experiments.references.gaps import MeanReferences
from lifelong_co.tasks.task import Task

ABOUT = {
    "forgetting": (
        "Forgetting",
        "Test cost over the epochs of the whole run; vertical lines mark where the next task"
        " begins. Above left: the mean over the tasks learned so far, whose level changes with the"
        " tasks it averages. Above right: the mean of their gaps to d*, which ends at AP. The"
        " first task is left out of both where there are more. Where all runs share one task"
        " order, a panel for each task follows: shaded while it is learned, dotted (zero-shot)"
        " before; a rise after the shading is forgetting.",
    ),
    "plasticity": (
        "Plasticity",
        "Test cost on each task while it is learned. A curve starts at the zero-shot cost, tested"
        " just before; the first task has no such test.",
    ),
}
"""Heading and explanation of each figure, by the name of its file."""

BANDS = " Lines are means over seeds, bands their range."
OPEN = 2
"""Runs whose cost matrices are shown at once; those of more have to be opened."""
AS_TEXT = ("<table>", '<table class="text">')
TOP = ("problem", "solver", "method", "preset", "order")


def page(
    comparison: Comparison,
    images: Mapping[str, bytes],
    references: MeanReferences | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    comparison
        One or more runs.
    images
        PNGs by the names of `ABOUT`; one that is missing is replaced by how to get it.
    references
        Mean reference costs of tasks; with them the page has optimality gaps.
    """
    single = len(comparison.runs) == 1
    labels = ", ".join(group.label for group in comparison.groups)
    name = f"Lifelong run: {labels}" if single else f"Lifelong runs compared: {labels}"
    problem = comparison.problem.upper()
    parts = [
        f"<h1>{escape(name)}</h1>",
        f"<p class=lead>{escape(problem)}, {len(comparison.runs[0].names)} tasks:"
        f" {escape(_sequences(comparison))}.</p>",
        "<h2>Metrics</h2>",
        _table(tables.metrics_table(comparison).shown, _sentence(tables.caption(comparison))),
        meanings(),
        "<p>All five are smaller for better solvers. d* is the least mean cost that any of the runs"
        " on this page reached on a task after any task.</p>",
        *([] if references is None else _gaps(comparison, references)),
        *(_figure(key, images.get(key), comparison) for key in ABOUT),
        "<h2>Costs</h2>",
        "<p>Mean test cost. Each row is one moment, after learning the task it names; each column"
        " is one tested task. Marked cells: just after learning that task.</p>",
        *(
            _costs(group, run, len(comparison.runs) > OPEN)
            for group in comparison.groups
            for run in group.runs
        ),
        "<h2>What was run</h2>",
        _configuration(comparison),
    ]
    return document(name, "\n".join(parts))


def _gaps(comparison: Comparison, references: MeanReferences) -> list[str]:
    parts = [f"<p class=missing>{escape(note)}</p>" for note in references.notes]
    if references.means:
        sheet = tables.gap_table(comparison, references)
        parts.insert(0, _table(sheet.shown, f"{sheet.title}. {sheet.note}".strip()))
    return parts


def document(title: str, body: str) -> str:
    """Return a page that needs nothing beside itself.

    Parameters
    ----------
    title
        Plain text.
    body
        HTML.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _sequences(comparison: Comparison) -> str:
    found = dict.fromkeys(" → ".join(run.names) for run in comparison.runs)
    return "; ".join(found)


def _sentence(caption: str) -> str:
    return caption[0].upper() + caption[1:].replace("10^-3", "10⁻³").replace(" - ", " − ") + "."


def meanings() -> str:
    """Return what the five metrics are."""
    terms = [
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in tables.MEANINGS.items()
    ]
    return f"<dl>{''.join(terms)}</dl>"


def _figure(name: str, image: bytes | None, comparison: Comparison) -> str:
    heading, text = ABOUT[name]
    if image is None:
        return (
            f"<h2>{heading}</h2>\n<p class=missing>This figure needs matplotlib:"
            f" <code>{escape(figures.INSTALL)}</code>, then make the report again.</p>"
        )
    seeds = BANDS if any(len(group.runs) > 1 for group in comparison.groups) else ""
    data = base64.b64encode(image).decode("ascii")
    return (
        f"<h2>{heading}</h2>\n<p>{escape(text + seeds)}</p>\n"
        f'<div class="wide"><img alt="{heading} curves of {_labels(comparison)}"'
        f' src="data:image/png;base64,{data}"></div>'
    )


def _labels(comparison: Comparison) -> str:
    return escape(", ".join(group.label for group in comparison.groups))


def _costs(group: Group, run: Run, folded: bool) -> str:
    seed = f", seed {run.config.seed}"
    table = _table(tables.cost_table("", run.names, run.costs).shown, mark_diagonal=True)
    opened = "" if folded else " open"
    return f"<details{opened}><summary>{escape(group.label + seed)}</summary>{table}</details>"


def _table(table: list[list[str]], caption: str = "", mark_diagonal: bool = False) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table[0])
    rows = []
    for i, (first, *rest) in enumerate(table[1:]):
        marks = [' class="own"' if mark_diagonal and i == j else "" for j in range(len(rest))]
        cells = [f"<td{mark}>{escape(cell)}</td>" for mark, cell in zip(marks, rest, strict=True)]
        rows.append(f'<tr><th scope="row">{escape(first)}</th>{"".join(cells)}</tr>')
    said = f'<p class="caption">{escape(caption)}</p>' if caption else ""
    return (
        f'{said}<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _configuration(comparison: Comparison) -> str:
    groups = comparison.groups
    flats = [settings(group.runs[0].config) for group in groups]
    seconds = [[run.seconds for run in group.runs] for group in groups]
    known = list(dict.fromkeys([*TOP, *(k for flat in flats for k in flat)]))
    keys = [k for k in known if k != "seed" and not k.startswith("tasks.")]
    table = [["setting", *(group.label for group in groups)]]
    table += [[key, *(_text(flat.get(key)) for flat in flats)] for key in keys]
    table.append(
        ["seeds", *(", ".join(str(run.config.seed) for run in group.runs) for group in groups)]
    )
    table.append(["training, minutes a run", *map(_minutes, seconds)])
    table.append(["folders", *("\n".join(str(run.path) for run in g.runs) for g in groups)])
    return _table(table).replace(*AS_TEXT) + _tasks(comparison)


def _tasks(comparison: Comparison) -> str:
    """Return a table of the tasks for every distinct setting of them."""
    shown: dict[str, str] = {}
    for group in comparison.groups:
        tasks = group.runs[0].config.tasks
        tables_of = [{"name": task.label} | _without_name(task) for task in tasks]
        used = [key for key in tables_of[0] if any(its[key] not in ("", None) for its in tables_of)]
        rows = [[_text(its[key]) for key in used] for its in tables_of]
        shown.setdefault(repr(rows), _table([used, *rows]).replace(*AS_TEXT))
    return "<h3>Tasks in the order of arrival</h3>" + "".join(shown.values())


def _without_name(task: Task) -> dict[str, object]:
    return {key: value for key, value in attrs.asdict(task).items() if key != "name"}


def _text(value: object) -> str:
    if value is None or value == "":
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _minutes(seconds: Sequence[float | None]) -> str:
    known = [value for value in seconds if value is not None]
    return f"{sum(known) / len(known) / 60:.1f}" if known else "–"
