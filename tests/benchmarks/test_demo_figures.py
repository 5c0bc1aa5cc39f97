"""What README and pages say of `make demo` is what the stored runs of seed 0 give."""

import re

import pytest
from paths import ROOT

from lifelong_co.experiments.comparison.comparison import compare_runs
from lifelong_co.metrics import NAMES


@pytest.fixture
def groups(program):
    """Return the results of fine-tuning and LLR-BC with seed 0; `d*` is that of both."""
    found = program("study").Study.named("demo").results()
    runs = {run.config.method: run for run in found.runs.values() if run.config.seed == 0}
    compared = compare_runs([runs["fine-tuning"], runs["llr-bc"]])
    return {run.config.method: (run, compared.metrics(run)) for run in compared.runs}


def said(page):
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def test_the_table_of_the_readme_is_that_of_seed_0(groups):
    """Every number of both tables, the metrics and the costs after each task."""
    (block,) = re.findall(r"```\n(method +runs .*?)```", said("README.md"), re.DOTALL)
    shown = re.findall(r"\d+\.\d+", block.replace("1. C20", "").replace("2. GM20", ""))
    costs = [[f"{cost:.4f}" for cost in row] for run, _ in groups.values() for row in run.costs]
    for name, (_, metrics) in groups.items():
        values = [f"{1e3 * getattr(metrics, each):.1f}" for each in NAMES]
        line = next(line for line in block.splitlines() if line.startswith(name))
        assert line.split()[1:7] == ["1", *values]
    for row in costs:
        assert all(cost in shown for cost in row)
    assert len(shown) == 2 * len(NAMES) + sum(map(len, costs))


@pytest.mark.parametrize("page", ["README.md", "docs/why.md"])
def test_the_costs_on_the_clusters_are_those_of_seed_0(groups, page):
    """GM20 just after it was learned and after R10, and by how much it got worse."""
    text = re.sub(r"```.*?```", "", said(page), flags=re.DOTALL)  # without the table
    for method in ("fine-tuning", "llr-bc"):
        after, last = (groups[method][0].costs[i][1] for i in (1, 2))
        worse = 100 * (last / after - 1)
        shown = [f"{after:.2f}", f"{last:.2f}"]
        if page == "README.md" or method == "fine-tuning":
            shown.append(f"{worse:.0f} %" if worse > 1 else f"{worse:.1f} %")
        for each in shown:
            assert re.search(rf"(?<![\d.]){re.escape(each)}(?!\d)", text), each
