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
SAID = re.compile(r"\b(?:AP|AF|AMF|APl|AG)s?\b[^.|;\n]{0,25}?(?<!\d)\d+(?:\.\d+)?\b(?!⁻| %)")
"""A metric and, soon after it, a number."""
PAPERS = "docs/paper_and_code.md"
"""This page has numbers of the paper (`published_metrics.py`)."""
EXPLAINED = {
    "docs/concepts.md": ["AP of 4.4", "AF · (k − 1", "AF of 0"],
    "docs/faq.md": ["AP of 4.4", "AF of 0"],
}
"""Examples that explain a metric."""
MEASURED = re.compile(r"\b\d[\d.,]* (?:ms|KiB|MiB|GiB|GFLOP/s)\b|\b\d+\.\d+ times\b")
"""Milliseconds, a memory, a rate or a ratio."""
SET = {
    "docs/faq.md": ["5 ms"],
    "docs/methods/tuning.md": ["1.5 times"],
    "docs/performance.md": ["16 GiB"],
    "docs/results/speed.md": ["24 GiB"],
}
"""Such numbers that are limits, goals and examples."""
PAGES = [
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
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
