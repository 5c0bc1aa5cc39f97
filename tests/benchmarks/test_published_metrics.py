"""The proof that the paper's tables leave out the last task, from the committed numbers."""

import csv
import runpy

from paths import ROOT


def test_proof_counts_the_rows_of_the_papers_tables() -> None:
    """At k = 3 all 80 rows have AF = AMF; at k = 6 AF is impossible by the text in 30 of 80."""
    script = runpy.run_path(str(ROOT / "benchmarks" / "published_metrics.py"))
    with script["TABLE"].open(newline="", encoding="utf-8") as file:
        lines = script["proof"](list(csv.DictReader(file)))
    assert lines[0] == "k = 3: AF equals AMF in 80 of 80 rows"
    assert lines[1].startswith("k = 6: AF is below k / (k - 1) (AP - APl) in 30 of 80 rows")
    assert len(lines) == 2 + 30


def test_row_that_the_formulas_allow_is_not_counted() -> None:
    """With AP = APl any AF is possible."""
    script = runpy.run_path(str(ROOT / "benchmarks" / "published_metrics.py"))
    row = {
        "problem": "tsp",
        "order": "1",
        "k": "6",
        "method": "x",
        "AP": "5.0",
        "AF": "0.0",
        "AMF": "0.0",
        "APl": "5.0",
    }
    assert script["proof"]([row])[1].endswith("in 0 of 1 rows:")


def test_deviations_of_table_1_are_those_of_the_population() -> None:
    """All 78 cells fit it; the sample deviation fits where both are nearly zero."""
    script = runpy.run_path(str(ROOT / "benchmarks" / "published_metrics.py"))
    orders, table1 = script["read"](script["TABLE"]), script["read"](script["TABLE1"])
    said = script["deviations"](orders, table1)
    assert said.endswith("the population's in 78 of 78 cells, the sample's in 14")


def test_ap_after_three_tasks_is_more_than_the_text_allows() -> None:
    """The printed AP of Restart at k = 3 was measured after six tasks."""
    script = runpy.run_path(str(ROOT / "benchmarks" / "published_metrics.py"))
    said = script["restart"](script["read"](script["TABLE"]))
    assert said.endswith("of the CVRP is 72.0, after task 3 it is at most 58.1")
