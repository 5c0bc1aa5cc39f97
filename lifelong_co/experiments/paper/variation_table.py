"""The paper's table of hyperparameters and ablations: what was varied, beside the default.

A variant is held against the default in the same orders and with the same seeds, so those that were
varied in the same places share a block that ends in it.
"""

from collections.abc import Mapping

from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.paper.measures import SPREADS, UNITS, columns, group, spans
from lifelong_co.experiments.paper.studies import Arrival, Chapter, Study, Variant
from lifelong_co.experiments.sheet import Cell, Row, Sheet

Places = frozenset[tuple[Arrival, int]]
"""Orders and seeds."""


def varied(chapter: Chapter) -> list[Sheet]:
    """Return the metrics of what was varied, a sheet for each solver (paper, table 3)."""
    sheets = []
    for solver in chapter.solvers:
        studies = {p: s for p, s in chapter.of(solver).items() if len(s.variants) > len(s.main)}
        if studies:
            sheets.append(
                Sheet(
                    key="hyperparameters" + ("" if solver == chapter.solvers[0] else f"-{solver}"),
                    title=f"Hyperparameters and ablations ({solver})",
                    header=("setting", *columns(len(studies))),
                    spans=spans(studies),
                    blocks=_blocks(studies),
                    note="Settings of llr-bc unless another method is named; default: the method as"
                    " it is, in the orders and with the seeds of the settings above it.",
                    common=f"{UNITS} {SPREADS}",
                    best_of="none",
                )
            )
    return sheets


def _blocks(studies: Mapping[str, Study]) -> tuple[tuple[Row, ...], ...]:
    """Return the settings by where they were tried, the defaults in the same places last."""
    found: dict[tuple[Places, ...], dict[str, str]] = {}  # labels to methods
    for study in studies.values():
        for each in study.variants:
            if not each.main:
                tried = tuple(_tried(other, each) for other in studies.values())
                found.setdefault(tried, {})[_label(each)] = each.method
    blocks = []
    for tried, settings in found.items():
        defaults = {_default(method): method for method in settings.values()}
        rows = []
        for label in (*settings, *defaults):
            cells = [Cell(label)]
            for study, places in zip(studies.values(), tried, strict=True):
                variant = next((each for each in study.variants if _label(each) == label), None)
                runs = () if variant is None else variant.runs
                cells += group(study, [run for run in runs if _place(run) in places])
            rows.append(tuple(cells))
        blocks.append(tuple(rows))
    return tuple(blocks)


def _tried(study: Study, variant: Variant) -> Places:
    """Return where a study has a variant of this name."""
    return frozenset(
        _place(run)
        for each in study.variants
        if _label(each) == _label(variant)
        for run in each.runs
    )


def _label(variant: Variant) -> str:
    if variant.main:
        return _default(variant.method)
    return variant.name if variant.method == "llr-bc" else f"{variant.method} {variant.name}"


def _default(method: str) -> str:
    return "default" if method == "llr-bc" else f"{method} default"


def _place(run: Run) -> tuple[Arrival, int]:
    return run.names, run.config.seed
