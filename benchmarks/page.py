"""The tables of studies in README.md and the documentation, made of the stored runs.

    python benchmarks/page.py [--check]

It writes a table between each such pair of lines, and replaces the former one. ``--check`` writes
nothing and names the files that would change; the exit status is then 1.

    <!-- table: NAME NUMBER AP AF APl -->
    <!-- end -->

NAME is a study (``benchmarks/NAME.toml``), NUMBER one of its tables, from 1; the metrics that are
shown follow. Instead of ``table`` it may be

- ``split`` (what AP consists of), ``equal`` (see `equal_time`) or ``trials`` (see `equal_trials`):
  no metrics follow;
- ``goals``: what `rehearsal` was to reach in these metrics (see `goals`);
- ``paired``: tests against the row whose name stands in quotes after the number;
- ``orders``: AP of each order, beside that of the row named (see `each_order`);
- ``published``: each metric by the paper's text and by the official code;
- ``other``, ``measured`` or ``gpu``: the name of a function of `other_tables`, `speed_tables` or
  `gpu_tables` and its arguments follow.

Within a line, ``<!-- value: NAME NUMBER "ROW" AP -->4.4<!-- end -->`` is one cell of a table;
``<!-- difference: NAME NUMBER "ROW" "AGAINST" AP -->-1.2<!-- end -->`` that of a paired test;
``<!-- speed: "WHAT" cvrp -->2, 2 and 1.5<!-- end -->`` the ratios of `against_official.py` by size;
``share``, ``span``, ``steps`` and ``whole`` are other functions of `speed_tables`.
"""

import argparse
import re
import shlex
import sys
from collections.abc import Callable
from functools import cache

import attrs
import gpu_tables
import other_tables
import speed_tables
from each_order import each_order
from equal_time import equal_time
from equal_trials import equal_trials
from goals import goals
from row_values import made_by, measured, refuse_unknown, row_of
from study import HERE, Study

from lifelong_co.experiments import formats
from lifelong_co.experiments.comparison.comparison import compare_runs
from lifelong_co.experiments.comparison.paired_table import Pair, paired_table
from lifelong_co.experiments.comparison.split_table import split_of, split_row, split_sheet
from lifelong_co.experiments.paired import ALIKE
from lifelong_co.experiments.sheet import Sheet
from lifelong_co.experiments.spread import over_orders
from lifelong_co.experiments.sweep.plan import Block
from lifelong_co.experiments.sweep.table import Results, compared, table
from lifelong_co.metrics import NAMES

VALUE = re.compile(
    r"(<!-- (value|difference|share|span|speed|steps|whole): (.+?) -->)(.*?)(<!-- end -->)"
)
MARKED = re.compile(
    r"(<!-- (table|paired|orders|published|split|goals|equal|trials|other|measured|gpu): "
    r"(.+?) -->\n)"
    r"(.*?)(<!-- end -->)",
    re.DOTALL,
)


@cache
def results(name: str) -> Results:
    """Return the stored runs of a study."""
    return Study.named(name).results()


def metrics_table(found: Results, block: Block, names: list[str]) -> Sheet:
    """Return mean, deviation over orders and interval over seeds of some metrics."""
    refuse_unknown(names, NAMES)
    whole = table(found, block)
    counts = {row[whole.header.index("runs")].shown for row in whole.rows}
    heads = ("method", "solver", *["runs"] * (len(counts) > 1))
    shown = [j for j, name in enumerate(whole.header) if name in (*heads, *names)]
    rows = tuple(tuple(row[j] for j in shown) for row in whole.rows)
    header = tuple(whole.header[j] for j in shown)
    notes = [f"Runs of each row: {counts.pop()}."] if len(counts) == 1 else []
    note = " ".join((*notes, made_by(found, block.rows))).strip()
    return attrs.evolve(whole, title="", header=header, blocks=(rows,), note=note)


def published(found: Results, block: Block, names: list[str]) -> Sheet:
    """Return each metric by the text and by the official code, side by side."""
    theirs = {
        key: compare_runs(compared.runs, "published") for key, compared in found.comparisons.items()
    }
    text = metrics_table(found, block, names)
    code = metrics_table(attrs.evolve(found, comparisons=theirs), block, names)
    head = len(text.header) - len(names)
    pairs = [(j, k) for j in range(head, len(text.header)) for k in (0, 1)]
    rows = tuple(
        (*one[:head], *((one, two)[k][j] for j, k in pairs))
        for one, two in zip(text.rows, code.rows, strict=True)
    )
    header = [f"{text.header[j]}, {('text', 'code')[k]}" for j, k in pairs]
    return attrs.evolve(text, header=(*text.header[:head], *header), blocks=(rows,))


def paired(found: Results, block: Block, names: list[str]) -> Sheet:
    """Return the tests of each row against the row that ``names`` begins with."""
    against, *names = names
    refuse_unknown(names, NAMES)
    base = row_of(block, against)
    pairs = [
        Pair(row.label, against, measured(found, row), measured(found, base))
        for row in block.rows
        if row is not base
    ]
    whole = paired_table(pairs)
    rows = tuple(row for row in whole.rows if row[2].shown in names)
    tested = {row[0].shown for row in rows}
    tests = f"{len(tested)} test{'s' * (len(tested) != 1)}"
    note = f"Negative: better than `{against}`. p (Holm): for {tests} of each metric."
    if few := [pair.label for pair in pairs if pair.label not in tested]:
        note += f" Too few common seeds {ALIKE}: {', '.join(few)}."
    note = f"{note} {made_by(found, block.rows)}".strip()
    return attrs.evolve(whole, title="", blocks=(rows,), note=note)


def split(found: Results, block: Block, names: list[str]) -> Sheet:  # noqa: ARG001
    """Return what AP consists of, for each row."""
    rows = []
    for row in block.rows:
        done = found.finished(row)
        each = {
            key: split_of(run, found.comparisons[compared(run.config)].best)
            for key, run in done.items()
        }
        if each:
            columns = range(len(next(iter(each.values()))))
            spreads = [over_orders({key: of[j] for key, of in each.items()}) for j in columns]
            rows.append(split_row(row.label, len(each), spreads))
    made = split_sheet(rows)
    note = f"{made.note} {made_by(found, block.rows)}".strip()
    return attrs.evolve(made, title="", note=note)


OTHER = {"other": other_tables, "measured": speed_tables, "gpu": gpu_tables}
KINDS: dict[str, Callable[[Results, Block, list[str]], Sheet]] = {
    "table": metrics_table,
    "published": published,
    "paired": paired,
    "orders": each_order,
    "split": split,
    "goals": goals,
    "equal": equal_time,
    "trials": equal_trials,
}


def value(name: str, number: str, row: str, metric: str) -> str:
    """Return one cell of a table."""
    found = results(name)
    whole = metrics_table(found, found.plan.blocks[int(number) - 1], [metric])
    (cell,) = (each[-1].shown for each in whole.rows if each[0].shown == row)
    return cell


def difference(name: str, number: str, row: str, against: str, metric: str) -> str:
    """Return the difference of a paired test, with its interval."""
    found = results(name)
    whole = paired(found, found.plan.blocks[int(number) - 1], [against, metric])
    column = whole.header.index("difference")
    (cell,) = (each[column].shown for each in whole.rows if each[0].shown == row)
    return cell


CELLS = {"value": value, "difference": difference}


def filled(text: str) -> str:
    """Return a document with its tables and values made again."""

    def replace(match: re.Match[str]) -> str:
        opening, kind, said, _, closing = match.groups()
        name, *words = shlex.split(said)
        if kind in OTHER:
            made = getattr(OTHER[kind], name)(*words)
        else:
            number, *rest = words
            found = results(name)
            made = KINDS[kind](found, found.plan.blocks[int(number) - 1], rest)
        return f"{opening}\n{formats.markdown(made)}\n{closing}"

    def inline(match: re.Match[str]) -> str:
        opening, kind, said, _, closing = match.groups()
        made = CELLS.get(kind) or getattr(speed_tables, kind)
        return f"{opening}{made(*shlex.split(said))}{closing}"

    return VALUE.sub(inline, MARKED.sub(replace, text))


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    changed = []
    root = HERE.parent
    for file in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        text = file.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            changed.append(file.relative_to(root))
            if not check:
                file.write_text(new, encoding="utf-8")
    print("".join(f"{'stale' if check else 'written'}: {file}\n" for file in changed), end="")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
