"""What `rehearsal` was to reach, set before it was made, and what it came to."""

import statistics
from collections.abc import Iterable

import attrs
from measurement import read
from row_values import made_by, measured, refuse_unknown, row_of
from speed_tables import made, ratio_of_runs

from lifelong_co.experiments.paired import Seed, Values
from lifelong_co.experiments.sheet import SCALE, Cell, Sheet, words
from lifelong_co.experiments.spread import half_width
from lifelong_co.experiments.sweep.plan import Block
from lifelong_co.experiments.sweep.table import Results
from lifelong_co.metrics import NAMES


@attrs.frozen
class Goal:
    """A row's metric is at most ``share`` of that of another row with the same order and seed."""

    row: str
    metric: str
    """Or ``time``, in multiples of fine-tuning."""
    share: float
    """Or the bound itself, if there is no other row."""
    other: str = ""
    said: str = ""
    """The share in words."""


REINFORCE = "llr-bc, by REINFORCE"
OFFICIAL = f"{REINFORCE}, official alpha"
GOALS = (
    Goal("rehearsal", "AP", 1 / 4, REINFORCE, f"a quarter of `{REINFORCE}`"),
    Goal("rehearsal", "APl", 1 / 3, REINFORCE, f"a third of `{REINFORCE}`"),
    Goal("rehearsal", "AP", 1 / 4, OFFICIAL, f"a quarter of `{OFFICIAL}`"),
    Goal("rehearsal", "APl", 1 / 3, OFFICIAL, f"a third of `{OFFICIAL}`"),
    Goal("rehearsal", "AF", 1 / SCALE, "", "1"),
    Goal("rehearsal", "AP", 1.0, "li-inter", "that of `li-inter`"),
    Goal("rehearsal", "AP", 1.0, "feng", "that of `feng`"),
    Goal("rehearsal", "time", 1.5),
    Goal("rehearsal, cheap", "AP", 1 / 3, REINFORCE, f"a third of `{REINFORCE}`"),
    Goal("rehearsal, cheap", "time", 1.25),
)


def goals(found: Results, block: Block, names: list[str]) -> Sheet:
    """Return a row for each goal of the metrics ``names`` whose rows are in the table.

    It has the mean, its bound, and by how much it lies above the bound.
    """
    refuse_unknown(names, (*NAMES, "time"))
    labels = {row.label for row in block.rows}
    chosen = [g for g in GOALS if g.metric in names and labels >= {g.row, g.other} - {""}]
    of_metrics = [g for g in chosen if g.metric != "time"]
    rows = {g: met(found, block, g) if g in of_metrics else timed(block, g) for g in chosen}
    header = ("method", "metric", "at most", "mean", "bound", "above the bound", "ratio", "reached")
    notes = []
    if of_metrics:
        counts = {g: len(pairs(found, block, g)) for g in of_metrics}
        most = max(counts.values())
        fewer = dict.fromkeys(
            f"`{g.row}` beside `{g.other}`: {counts[g]}" for g in counts if counts[g] < most
        )
        notes.append(
            f"Above the bound, and the ratio to the other method: paired by seed. Pairs: {most}"
            f"{' (' + ', '.join(fewer) + ')' if fewer else ''}."
            f" {made_by(found, block.rows)}"
        )
    if "time" in names:
        notes.append(
            f"Time: estimated from three epochs of each task, by `whole_runs.py`."
            f" {made(read('whole_runs'))}"
        )
    blocks = (tuple(rows[g] for g in chosen),)
    return Sheet(
        key="goals",
        title="",
        header=header,
        blocks=blocks,
        note=" ".join(notes),
        best_of="none",
        left=3,
    )


def pairs(found: Results, block: Block, goal: Goal) -> list[tuple[float, float]]:
    """Return the metric and its bound, as means over the orders, of each seed with all of them."""
    own = {
        at: getattr(m, goal.metric) for at, m in measured(found, row_of(block, goal.row)).items()
    }
    bounds = dict.fromkeys(own, goal.share)
    if goal.other:
        others = measured(found, row_of(block, goal.other))
        bounds = {at: goal.share * getattr(m, goal.metric) for at, m in others.items()}
    both = own.keys() & bounds.keys()
    orders = sorted({order for order, _ in both})
    whole = [s for s in sorted({seed for _, seed in both}) if all((o, s) in both for o in orders)]
    return [(mean_of(own, orders, seed), mean_of(bounds, orders, seed)) for seed in whole]


def mean_of(values: Values, orders: Iterable[str], seed: Seed) -> float:
    """Return the mean over the orders of the values of a seed."""
    return statistics.fmean(values[order, seed] for order in orders)


def met(found: Results, block: Block, goal: Goal) -> tuple[Cell, ...]:
    """Return the row of a metric."""
    both = pairs(found, block, goal)
    if len(both) < 2:  # one seed has no interval
        return words(goal.row, goal.metric, goal.said, *["-"] * 5)
    above = [own - bound for own, bound in both]
    mean, width = statistics.fmean(above), half_width(above) or 0.0
    shown = "yes" if mean <= 0 else "no"
    if abs(mean) < width:
        shown += ", but the interval has 0"
    figures = (statistics.fmean(of) for of in zip(*both, strict=True))
    texts = (f"{SCALE * figure:.1f}" for figure in figures)
    off = f"{SCALE * mean:+.1f} ± {SCALE * width:.1f}"
    ratio = "-"
    if goal.other:
        each = [own / bound * goal.share for own, bound in both]
        ratio = f"{statistics.fmean(each):.2f} ± {half_width(each) or 0.0:.2f}"
    return words(goal.row, goal.metric, goal.said, *texts, off, ratio, shown)


def timed(block: Block, goal: Goal) -> tuple[Cell, ...]:
    """Return the row of a time."""
    said = f"{goal.share:g} times `fine-tuning`"
    took = ratio_of_runs(goal.row, block.problem)
    off, shown = f"{took - goal.share:+.2f}", "yes" if took <= goal.share else "no"
    return words(goal.row, "time", said, f"{took:.2f}", f"{goal.share:g}", off, "-", shown)
