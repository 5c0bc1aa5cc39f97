"""Paired tests of the methods and their settings, and what AP consists of, for each study."""

from lifelong_co.experiments.comparison.paired_table import Pair, paired_table
from lifelong_co.experiments.comparison.report import plain
from lifelong_co.experiments.comparison.split_table import COLUMNS, split_of, split_row, split_sheet
from lifelong_co.experiments.paper import naming
from lifelong_co.experiments.paper.studies import Chapter, Study
from lifelong_co.experiments.sheet import Sheet
from lifelong_co.experiments.spread import over_orders


def paired(chapter: Chapter) -> list[Sheet]:
    """Return the tests of each study that has several methods or settings."""
    sheets = []
    for study in chapter.studies:
        found = pairs_of(study)
        if found:
            key, title = _named("paired", "Paired tests", study)
            sheets.append(plain(paired_table(found, key, title)))
    return sheets


def pairs_of(study: Study) -> list[Pair]:
    """Return a pair for each method and setting.

    A method is compared with that of the paper, or with the first one if that has no runs. A
    setting is compared with the default of its method.
    """
    defaults = {each.method: each for each in study.main}
    lifelong = [each.method for each in study.lifelong] or list(defaults)
    against = naming.PAPERS if naming.PAPERS in lifelong else lifelong[0]
    pairs = []
    for variant in study.variants:
        baseline = defaults[against if variant.main else variant.method]
        if variant is not baseline:
            both = (
                {run.place: study.metrics(run) for run in each.runs} for each in (variant, baseline)
            )
            pairs.append(Pair(variant.title, baseline.title, *both))
    return pairs


def split(chapter: Chapter) -> list[Sheet]:
    """Return the parts of AP of each lifelong method, over orders and seeds.

    A row names its orders if those of another row differ.
    """
    sheets = []
    for study in (each for each in chapter.studies if not each.alone):
        rows = []
        differ = len({variant.orders for variant in study.lifelong}) > 1
        for variant in study.lifelong:
            each = {run.place: split_of(run, study.best) for run in variant.runs}
            spreads = [
                over_orders({place: of[i] for place, of in each.items()}, study.definition)
                for i in range(len(COLUMNS))
            ]
            said = f" ({chapter.shown(variant.orders)})" * differ
            rows.append(split_row(variant.title + said, len(each), spreads))
        if rows:
            sheets.append(plain(split_sheet(rows, *_named("split", "What AP consists of", study))))
    return sheets


def _named(key: str, title: str, study: Study) -> tuple[str, str]:
    return (
        f"{key}-{study.problem}-{study.solver}",
        f"{title} on {study.problem.upper()} ({study.solver})",
    )
