"""The table of paired tests: each method against a baseline with the same tasks and seeds."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from lifelong_co import metrics
from lifelong_co.experiments.comparison.comparison import Comparison, Group
from lifelong_co.experiments.formats import NOTHING
from lifelong_co.experiments.paired import (
    ALIKE,
    LEAST_SEEDS,
    Difference,
    Seed,
    Values,
    difference,
    holm,
)
from lifelong_co.experiments.sheet import SCALE, THOUSANDTHS, Cell, Row, Sheet, words
from lifelong_co.experiments.spread import LEVEL

Measured = Mapping[tuple[str, Seed], metrics.Metrics]
"""The metrics of a method by order and seed."""

NOTE = (
    "Difference: mean over seeds of the method's metric minus that of the other one with the same"
    " seed, tasks, kind of device and number of processes, in 10^-3; below 0 the method is better."
    f" ±: half-width of its {LEVEL:.0%} interval by Student's t. p: two-sided paired t-test."
    " p (Holm): corrected for the tests of the same metric in this table, not for the number of"
    " metrics."
)
ENDINGS = (THOUSANDTHS, f"ci{LEVEL * 100:.0f}_{THOUSANDTHS}")


@attrs.frozen
class Pair:
    """A method and the one it is compared with."""

    label: str
    baseline: str
    first: Measured
    second: Measured

    def differences(self) -> dict[str, Difference]:
        """Return the test of each metric."""
        return {
            name: difference(_values(self.first, name), _values(self.second, name))
            for name in metrics.NAMES
        }


def pairs_of(comparison: Comparison) -> list[Pair]:
    """Return a pair of each group with the first one that has the same order of tasks."""
    found: list[Pair] = []
    firsts: dict[tuple[str, ...], Group] = {}
    for group in comparison.groups:
        first = firsts.setdefault(group.runs[0].names, group)
        if first is not group:
            both = (
                {run.place: comparison.metrics(run) for run in each.runs} for each in (group, first)
            )
            found.append(Pair(group.label, first.label, *both))
    return found


def paired_table(pairs: Sequence[Pair], key: str = "paired", title: str = "") -> Sheet:
    """Return a row for each pair and metric; pairs with too few common seeds are in the note.

    Parameters
    ----------
    pairs
        At least one. All tests of one metric are corrected for their number.
    """
    tested, few = [], []
    for pair in pairs:
        found = pair.differences()
        seeds = found[metrics.NAMES[0]].seeds
        if seeds >= LEAST_SEEDS:
            tested.append((pair, found))
        else:
            few.append(f"{pair.label} and {pair.baseline} ({seeds})")
    corrected = {name: holm([found[name].p for _, found in tested]) for name in metrics.NAMES}
    blocks = []
    for number, (pair, found) in enumerate(tested):
        named = [name for name in metrics.NAMES if not math.isnan(found[name].mean)]
        rows = (_row(pair, name, found[name], corrected[name][number]) for name in named)
        blocks.append(tuple(rows))
    notes = [NOTE] if tested else []
    if few:
        expected = f"at least {LEAST_SEEDS} common seeds {ALIKE}"
        notes.append(f"Not tested, expected {expected}: {'; '.join(few)}.")
    return Sheet(
        key=key,
        title=title or "Paired tests",
        header=("method", "against", "metric", "seeds", "difference", "p", "p (Holm)"),
        blocks=tuple(blocks),
        note=" ".join(notes),
        left=3,
        best_of="none",
    )


def untested(comparison: Comparison, tests: Sheet) -> str:
    """Return why nothing is tested; empty if something is, or if no method has several seeds."""
    several = any(len(group.runs) > 1 for group in comparison.groups)
    return f"{tests.title}: {tests.note}" if several and not tests.rows else ""


def as_cells(pairs: Sequence[Pair], labels: Sequence[str]) -> tuple[tuple[str, ...], list[Row]]:
    """Return a header and a row for each label, for CSV: its tests beside its metrics.

    A label without a test has empty cells. If there is no test at all, header and rows are empty.
    """
    found = [one for one in as_json(pairs) if one["p"] is not None]
    if not found:
        return (), [() for _ in labels]
    empty = Cell(NOTHING)
    rows = []
    for label in labels:
        tests = {one["metric"]: one for one in found if one["method"] == label}
        pair = next(iter(tests.values()), None)
        whole = {"against": str(pair["against"]), "seeds": str(pair["seeds"])} if pair else {}
        each = (_csv(tests[name]) if name in tests else empty for name in metrics.NAMES)
        rows.append((Cell("", whole) if pair else empty, *each))
    return ("paired", *metrics.NAMES), rows


def _csv(test: Mapping[str, Any]) -> Cell:
    numbers = (test["difference"] * SCALE, test["interval"] * SCALE, test["p"], test["p_holm"])
    names = (*(f"difference_{ending}" for ending in ENDINGS), "p", "p_holm")
    return Cell("", {name: f"{value:.6g}" for name, value in zip(names, numbers, strict=True)})


def as_json(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return the tests as JSON values; differences are plain fractions."""
    each = [(pair, pair.differences()) for pair in pairs]
    corrected = {name: holm([found[name].p for _, found in each]) for name in metrics.NAMES}
    return [
        {
            "method": pair.label,
            "against": pair.baseline,
            "metric": name,
            "seeds": found[name].seeds,
            "difference": _number(found[name].mean),
            "interval": _number(found[name].interval),
            "p": _number(found[name].p),
            "p_holm": _number(corrected[name][number]),
        }
        for number, (pair, found) in enumerate(each)
        for name in metrics.NAMES
    ]


def _row(pair: Pair, name: str, found: Difference, corrected: float) -> Row:
    mean, interval = found.mean * SCALE, found.interval * SCALE
    parts = dict(zip(ENDINGS, (f"{mean:.6g}", f"{interval:.6g}"), strict=True))
    return (
        *words(pair.label, pair.baseline, name, str(found.seeds)),
        Cell(f"{mean:+.1f} ± {interval:.1f}", parts),
        *(Cell(_probability(p), {"": f"{p:.6g}"}) for p in (found.p, corrected)),
    )


def _probability(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _values(measured: Measured, name: str) -> Values:
    return {place: getattr(of, name) for place, of in measured.items()}
