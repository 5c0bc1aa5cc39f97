"""Tables of mean costs, and gaps where there are references."""

import statistics

import numpy as np
import pytest
from synthetic_chapters import write

from lifelong_co import registry
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.cost_tables import cost_sheets
from lifelong_co.experiments.paper.studies import chapters
from lifelong_co.experiments.references.places import Places
from lifelong_co.tasks import instances as streams


def test_distances_show_gaps_where_references_are(chapter, tmp_path):
    """Mean cost over mean reference, minus 1; tasks without references show the cost alone."""
    task = next(t for t in chapter.studies[0].variants[0].runs[0].config.tasks if t.label == "U10")
    (group,) = streams.testing(task, registry.problem("cvrp"), 64)
    costs = np.linspace(5, 7, 64)
    fields = {name: getattr(group, name).numpy() for name in ("depot", "nodes", "demand")}
    np.savez(tmp_path / "cvrp-U10.npz", reference_cost=costs, **fields)
    (plain,), _ = cost_sheets(chapter, Places(tmp_path / "absent"))
    assert plain.title == "Mean cost on CVRP (pomo)"
    (sheet, varied, other), notes = cost_sheets(chapter, Places(tmp_path))
    assert notes == []
    assert sheet.header == ("order", "method", "E20", "C40", "U10")
    assert [cell.shown for cell in sheet.rows[0]] == ["", "reference", "-", "-", "6.000"]
    runs = [r for r in chapter.of("pomo")["cvrp"].variants[0].runs if r.config.order == "1"]
    cost = statistics.fmean(run.costs[-1][2] for run in runs)
    found = next(r for r in sheet.rows if [c.shown for c in r[:2]] == ["1", "fine-tuning"])
    assert found[4].shown == f"{cost:.3f} ({cost / 6 - 1:.1%})"
    assert float(found[4].parts["gap_fraction"]) == pytest.approx(cost / 6 - 1, abs=1e-5)
    assert "(" not in found[2].shown
    assert f"the gap to the mean reference in {tmp_path}." in sheet.note
    # What was varied and other solvers have gaps to the same references in separate sheets.
    assert (varied.key, other.key) == ("distances-cvrp-varied", "distances-cvrp-omni")
    assert {row[1].shown for row in varied.rows} == {"reference", "llr-bc -α(10)", "llr-bc -KLD"}
    (run,) = chapter.of("omni")["cvrp"].variants[0].runs
    cost = run.costs[-1][2]
    assert other.rows[1][-1].shown == f"{cost:.3f} ({cost / 6 - 1:.1%})"
    assert other.rows[0][-1].shown == "6.000"


def test_references_that_cannot_be_read_are_named(chapter, tmp_path):
    """The costs are there, and a note says which file is at fault."""
    (tmp_path / "cvrp-U10.npz").write_text("torn")
    (sheet,), (note,) = cost_sheets(chapter, Places(tmp_path))
    assert sheet.key == "distances-cvrp"
    assert note.startswith(f"references of cvrp: no gap on U10: {tmp_path / 'cvrp-U10.npz'}: ")


def test_restart_is_measured_just_after_each_task(tmp_path):
    """As in the paper its distances are those of solvers of one task each."""
    folder = write(tmp_path, "restart", "restart")
    (one,) = chapters(collect([folder]).runs)
    (sheet,), _ = cost_sheets(one, Places(tmp_path / "absent"))
    costs = one.studies[0].variants[0].runs[0].costs
    assert [cell.shown for cell in sheet.rows[0][1:]] == [f"{costs[i][i]:.3f}" for i in range(3)]
