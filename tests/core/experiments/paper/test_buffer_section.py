"""The section about the buffer, of runs with and without checkpoints."""

from pathlib import Path

import synthetic_runs
from tiny_runs import tiny_config, tiny_learn

from lifelong_co.experiments.paper.assemble import make_report
from lifelong_co.experiments.paper.buffer import (
    JUDGED,
    contents,
    items_of,
)
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.references.places import Places


def test_the_section_has_counts_correlation_and_pictures(run, tmp_path):
    """What is in the buffer is in the tables, and drawn."""
    report = make_report(collect([run.path]), Places(tmp_path / "absent"), str)
    (sheet,) = (sheet for sheet in report.sheets if sheet.key == "buffer")
    found = contents(run, items_of(run))
    cells = dict(zip(sheet.header, (cell.shown for cell in sheet.rows[0]), strict=True))
    assert cells["U5"] == str(found.units["U5"])
    assert cells["correlation"] == f"{found.correlation:.3f}"
    keys = {picture.key for picture in report.pictures}
    assert {"buffer-tsp-pomo", "confidence-tsp-pomo"} <= keys
    (drift,) = (sheet for sheet in report.sheets if sheet.key == "drift")
    assert f"At most {JUDGED} buffered steps" in drift.note


def test_llr_bc_is_drawn_where_another_method_has_a_buffer_too(run, tmp_path):
    """Both have their row, in the order of the methods; picture and confidence are LLR-BC's."""
    tiny_learn(tiny_config("der++"), tmp_path / "der")
    report = make_report(collect([tmp_path, run.path]), Places(tmp_path / "absent"), str)
    (sheet,) = (sheet for sheet in report.sheets if sheet.key == "buffer")
    assert [row[1].shown for row in sheet.rows] == ["der++ (pomo)", "llr-bc (pomo)"]
    (drift,) = (sheet for sheet in report.sheets if sheet.key == "drift")
    assert [row[1].shown for row in drift.rows] == ["llr-bc (pomo)"]
    (picture,) = (picture for picture in report.pictures if picture.key == "buffer-tsp-pomo")
    assert "llr-bc" in picture.caption


def test_without_checkpoints_the_sections_say_that_they_need_them(tmp_path: Path) -> None:
    """Costs alone make all other tables."""
    folder = synthetic_runs.write(tmp_path / "bare", synthetic_runs.config())
    report = make_report(collect([folder]), Places(tmp_path / "absent"), str)
    missing = "\n".join(report.missing)
    assert "runs without checkpoints in their folders: 1." in missing
    assert "drifts: CVRP: needs the folder checkpoints/" in missing
    shown = {"metrics", "per-order-cvrp", "split-cvrp-pomo", "distances-cvrp", "runs"}
    assert {sheet.key for sheet in report.sheets} == shown
