"""Mean costs after learning, and gaps to near-optimal costs (paper, appendix D)."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from lifelong_co.errors import LifelongError
from lifelong_co.experiments.comparison.instance_gaps import (
    InstanceGaps,
    gaps_of_runs,
    instance_gaps,
    mean_ratio,
)
from lifelong_co.experiments.comparison.runs import final_note
from lifelong_co.experiments.comparison.selection import MARKS, shown
from lifelong_co.experiments.comparison.tables import percent
from lifelong_co.experiments.definitions import WORDS
from lifelong_co.experiments.paper.metric_sheet import ranked, same_seeds
from lifelong_co.experiments.paper.studies import Chapter, Study, Variant
from lifelong_co.experiments.paper.zero_shot import Start
from lifelong_co.experiments.references.gaps import MeanReferences, gap, mean_references
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.runs.data_files import require_same_tests

PAPERS_NAMES = {"multi-task-epoch": "POMO-MT-EL", "multi-task-batch": "POMO-MT-BL"}
"""Methods that have another name in the paper's tables of costs."""


def cost_sheets(
    chapter: Chapter,
    places: Places,
    *,
    starts: Sequence[Start] = (),
    device: str = "cpu",
    log: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> tuple[list[Sheet], list[str]]:
    """Return sheets for each problem, and notes about what could not be used.

    As in the paper, the methods of the first solver always have a sheet. Other solvers and
    variants have a sheet only if there are references, because only gaps compare across them.

    Parameters
    ----------
    chapter
        The runs.
    places
        The folders in which references are looked for.
    starts
        Solvers for the rows without learning, in the first sheet of their problem.
    device
        Where test instances are solved: those of starts, and of all runs for gaps as published.
    log
        Called with a line of text before test instances are solved.
    """
    sheets: list[Sheet] = []
    notes: list[str] = []
    known: dict[str, MeanReferences] = {}  # all solvers of a chapter have the same tests
    for solver in chapter.solvers:
        for problem, study in chapter.of(solver).items():
            if problem not in known:
                first = study.variants[0].runs[0]
                known[problem] = mean_references(first.config, places, held=first.data)
                notes += [f"references of {problem}: {note}" for note in known[problem].notes]
            found, key = known[problem], f"distances-{problem}"
            key += "" if solver == chapter.solvers[0] else f"-{solver}"
            published = None
            if chapter.definition == "published":
                runs = [run for variant in study.variants for run in variant.runs]
                published = instance_gaps(runs, found, device, log)
            if found.means or solver == chapter.solvers[0]:
                tested = starts if solver == chapter.solvers[0] else ()
                untrained, left_out = _zero_shot(chapter, study, tested, found, device, log)
                notes += left_out
                sheets += _sheet(chapter, study, study.main, found, published, key, untrained)
            if found.means:
                others = [variant for variant in study.variants if not variant.main]
                sheets += _sheet(chapter, study, others, found, published, f"{key}-varied")
    return sheets, notes


def _zero_shot(
    chapter: Chapter,
    study: Study,
    starts: Sequence[Start],
    found: MeanReferences,
    device: str,
    log: Callable[[str], None],
) -> tuple[list[Row], list[str]]:
    """Return a row for each start of the study's problem, and notes about those that fail."""
    rows: list[Row] = []
    notes = []
    for start in (each for each in starts if each.config.problem == study.problem):
        log(f"{start.path}: solves the test instances of {chapter.title}, without learning")
        run = study.variants[0].runs[0]
        try:
            require_same_tests(run.data, run.config)
            costs = start.costs(run.config, device)
        except LifelongError as error:
            notes.append(f"{start.path}: {error}")
            continue
        means = {task: float(each.double().mean()) for task, each in costs.items()}
        gaps: dict[str, float | None] = {
            task: mean_ratio(costs[task], found.costs[task])
            if chapter.definition == "published"
            else gap(means[task], mean)
            for task, mean in found.means.items()
        }
        cells = (_cell(means, gaps, task) for task in _columns(chapter))
        rows.append((*words(*[""] * (len(study.orders) > 1), start.title), *cells))
    return rows, notes


def _sheet(
    chapter: Chapter,
    study: Study,
    variants: Sequence[Variant],
    found: MeanReferences,
    published: InstanceGaps | None,
    key: str,
    untrained: Sequence[Row] = (),
) -> list[Sheet]:
    means = found.means
    tasks = _columns(chapter)
    several = len(study.orders) > 1
    blocks = []
    for order, name in chapter.orders.items():
        rows = []
        fair = same_seeds(variant.of(order) for variant in variants)
        for variant in variants:
            runs = variant.of(order)
            costs = {task: fmean(run.final[task] for run in runs) for task in tasks if runs}
            gaps = gaps_of_runs(runs, means, published) if runs else {}
            cells = ranked((_cell(costs, gaps, task) for task in costs), fair)
            rows += [(*words(*[name] * several, variant.title), *cells)] if runs else []
        blocks += [tuple(rows)] if rows else []
    if not blocks:
        return []
    kind, note = "Mean cost", "Mean cost over test instances and seeds after the last task."
    note = f"{note} {final_note(run for each in variants for run in each.runs)}".rstrip()
    if untrained:
        blocks.insert(0, tuple(untrained))
        note += " zero-shot: a solver as it is before it learns the tasks here."
    if means:
        cells = [_cell(means, {}, task) if task in means else Cell("-") for task in tasks]
        blocks.insert(0, ((*words(*[""] * several, "reference"), *cells),))
        kind += " (optimality gap)"
        note += f" In parentheses: the gap to the mean reference {found.origin}."
        note = f"{note} {WORDS[chapter.definition].gap}".rstrip()
    if len(tasks) < len(chapter.tasks):
        note += f" {len(tasks)} of {len(chapter.tasks)} tasks are shown."
    missing = [name for name in tasks if name not in means]
    if missing:
        note += (
            f" There are no references for {', '.join(missing)} in {found.places.own};"
            " `lifelong-co reference --run DIR` finds them."
        )
    theirs = [f"{m} is {PAPERS_NAMES[m]}" for v in variants if (m := v.title) in PAPERS_NAMES]
    note += f" In the paper, {' and '.join(theirs)}." if theirs else ""
    which = "" if variants == study.main else ", hyperparameters and ablations"
    sheet = Sheet(
        key=key,
        title=f"{kind} on {study.problem.upper()} ({study.solver}){which}",
        header=(*["order"] * several, "method", *tasks),
        blocks=tuple(blocks),
        left=1 + several,
        note=note,
    )
    return [sheet]


def _columns(chapter: Chapter) -> list[str]:
    """Return the tasks of the columns: some, if there are many."""
    return [chapter.tasks[j] for j in shown(len(chapter.tasks), MARKS)]


def _cell(costs: Mapping[str, float], gaps: Mapping[str, float | None], task: str) -> Cell:
    """Return a mean cost, with its gap if the task has a reference; a dash for an unknown gap."""
    cost = costs[task]
    shown, parts = f"{cost:.3f}", {"cost": f"{cost:.6g}"}
    if task in gaps:
        above = gaps[task]
        shown = f"{shown} ({percent(above, 1)})"
        parts["gap_fraction"] = "" if above is None else f"{above:.6f}"
    return Cell(shown, parts, rank=round(cost, 3))
