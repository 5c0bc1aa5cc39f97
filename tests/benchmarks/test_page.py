"""The figures of studies in README and documentation are those of the stored runs."""

import os
import re
import subprocess
import sys

import pytest
from paths import ROOT

from lifelong_co.metrics import NAMES

MADE = re.compile(r"<!-- (\w+): .*?<!-- end -->|```.*?```", re.DOTALL)
"""What `page.py` writes, and listings of commands and their output."""
SAID = re.compile(
    r"\b(?:AP|AF|AMF|APl|AG)s?\b[^.|;]{0,60}?(?<!\d)(?<!order )\d+(?:\.\d+)?\b(?!⁻| %)"
)
"""A metric and, soon after it, a number that is not an order's."""
PAPERS = "docs/paper_and_code.md"
"""This page has numbers of the paper (`published_metrics.py`)."""
EXPLAINED = {
    "docs/concepts.md": ["AP of 4.4", "AF · (k − 1", "AF of 0"],
    "docs/faq.md": ["AP of 4.4", "AF of 0", "AF\nis 0"],
    "docs/methods/objectives.md": ["AP there than at the former rate, linear from 3e-4"],
    "docs/methods/tuning.md": [
        "AP of `der++` is lower with 0.01",
        "AP is\nalso below that of `feng` with 1",
    ],
    "docs/results/methods.md": [
        "AP on both problems, on order 1 and over orders 4",
        "AP a little above its bound, with an interval that contains 0",
    ],
}
"""Examples that explain a metric, weights, orders and zeros."""
MEASURED = re.compile(
    r"\b(?!95 %)\d[\d.,]* (?:ms|s|minutes|[kM]B|[KMG]iB|GFLOP/s|%)(?!\w)"
    r"|\b\d+\.\d+ times\b|\b\d+ times (?:as (?:fast|long)|faster)"
)
"""A time, a memory, a rate, a share or a ratio; 95 % is the level of every interval."""
SET = {
    "README.md": ["16 %", "0.4 %"],  # test_demo_figures.py
    "docs/concepts.md": ["0.44 %"],
    "docs/faq.md": ["0.44 %", "5 ms", "80 minutes"],
    "docs/guides/benchmarks.md": ["5 %"],
    "docs/guides/pretraining.md": ["4 %"],
    "docs/guides/references.md": ["0.002 %"],  # the page has the commands
    "docs/methods/clear.md": ["16 kB"],
    "docs/methods/objectives.md": ["0.6 MB"],
    "docs/methods/tuning.md": ["1.5 times"],
    "docs/paper_and_code.md": ["0.05 %", "2 %", "14 %"],
    "docs/performance.md": ["16 GiB", "3 times as fast"],
    "docs/results/speed.md": ["24 GiB"],
    "docs/why.md": ["16 %"],  # test_demo_figures.py
}
"""Such numbers that are limits, goals, examples, or computed from sizes."""
PAGES = [
    str(page.relative_to(ROOT))
    for page in (
        *(ROOT / folder / "README.md" for folder in (".", "benchmarks")),
        *sorted((ROOT / "docs").rglob("*.md")),
    )
]


def test_no_table_is_stale():
    """`page.py` would write the same tables."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "page.py", "--check"],
        capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if page != PAPERS])
def test_no_metric_is_written_by_hand(page):
    """A figure in a sentence is a `value`, so that it is one of a stored run."""
    text = MADE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    assert SAID.findall(text) == EXPLAINED.get(page, [])


@pytest.mark.parametrize("page", PAGES)
def test_no_table_of_metrics_is_written_by_hand(page):
    """A table with a column for a metric, and numbers in it, is one that `page.py` writes."""
    text = MADE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, *rows = table.splitlines()
        columns = {cell.strip() for cell in header.split("|")}
        assert not columns & set(NAMES) or not re.search(r"\d", "".join(rows)), header


@pytest.mark.parametrize("page", PAGES)
def test_no_measurement_is_written_by_hand(page):
    """Such a number comes from a stored measurement."""
    text = MADE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    assert MEASURED.findall(text) == SET.get(page, [])
