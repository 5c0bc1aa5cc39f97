"""Tables of mean costs, and gaps where there are references."""

import shutil
import statistics

import attrs
import imported_starts
import numpy as np
import pytest
from synthetic_chapters import write
from synthetic_references import lay
from tiny_runs import tiny_config, tiny_learn

from lifelong_co import registry
from lifelong_co.evaluation import best_costs
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.cost_tables import cost_sheets
from lifelong_co.experiments.paper.studies import chapters
from lifelong_co.experiments.references.places import Places
from lifelong_co.runs.trained_solver import load_solver
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


def test_best_cost_is_marked_only_among_the_same_seeds(root, tmp_path):
    """A seed can be worse for all methods."""
    write(tmp_path, "one-seed", "ewc")
    for folders, marked in (([root], {"1", "2"}), ([root, tmp_path], {"2"})):
        (one, *_) = chapters(collect(folders).runs)
        (sheet, *_), _ = cost_sheets(one, Places(tmp_path / "absent"))
        assert {sheet.rows[i][0].shown for i, _ in sheet.best()} == marked


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


def test_published_gaps_are_those_of_the_instances(tmp_path):
    """A run with checkpoints has the mean of the ratios; a run without them has a dash."""
    config = tiny_config("fine-tuning")
    runs = [tiny_learn(config, tmp_path / "kept").folder.path]
    runs.append(tiny_learn(attrs.evolve(config, method="ewc"), tmp_path / "bare").folder.path)
    shutil.rmtree(runs[1] / "checkpoints")
    lay(tmp_path, config.tasks[0], 3, [0.5, 1.0, 2.0], problem="tsp")
    (one,) = chapters(collect(runs).runs, "published")
    lines: list[str] = []
    (sheet,), _ = cost_sheets(one, Places(tmp_path), log=lines.append)
    (solver, references) = load_solver(runs[0]), [0.5, 1.0, 2.0]
    (group,) = streams.testing(config.tasks[0], solver.problem, 3)
    gap = statistics.fmean(
        c / r - 1 for c, r in zip(best_costs(solver, group).tolist(), references, strict=True)
    )
    rows = {row[0].shown: row[1] for row in sheet.rows}
    assert rows["fine-tuning"].shown.endswith(f"({gap:.1%})")
    assert float(rows["fine-tuning"].parts["gap_fraction"]) == pytest.approx(gap, abs=1e-5)
    assert rows["ewc"].shown.endswith("(-)")
    assert rows["ewc"].parts["gap_fraction"] == ""
    assert "mean over the instances of each instance's gap" in sheet.note
    assert any(line.startswith(f"{runs[1]}: no gaps as published") for line in lines)


@pytest.mark.parametrize("definition", ["text", "published"])
def test_start_has_a_row_without_learning(tmp_path, definition):
    """Its costs and gaps stand between the references and the methods, in one row."""
    config = tiny_config("fine-tuning")
    solver = imported_starts.write(tmp_path / "start")
    run = tiny_learn(config, tmp_path).folder.path
    references = [0.5, 1.0, 2.0]
    lay(tmp_path, config.tasks[0], 3, references, problem="tsp")
    found = collect([run, tmp_path / "start"])
    (one,) = chapters(found.runs, definition)
    (sheet,), notes = cost_sheets(one, Places(tmp_path), starts=found.starts)
    assert notes == []
    assert [row[0].shown for row in sheet.rows] == ["reference", "pomo zero-shot", "fine-tuning"]
    (group,) = streams.testing(config.tasks[0], solver.problem, 3)
    costs = best_costs(solver, group).double().tolist()
    ratios = [c / r - 1 for c, r in zip(costs, references, strict=True)]
    gap = statistics.fmean(ratios) if definition == "published" else sum(costs) / 3.5 - 1
    assert sheet.rows[1][1].shown == f"{statistics.fmean(costs):.3f} ({gap:.1%})"
    assert "zero-shot: a solver as it is before it learns" in sheet.note


def test_start_that_cannot_be_loaded_is_named(tmp_path):
    """The other rows are there."""
    imported_starts.write(tmp_path / "start")
    shutil.rmtree(tmp_path / "start" / "checkpoints")
    run = tiny_learn(tiny_config("fine-tuning"), tmp_path).folder.path
    found = collect([run, tmp_path / "start"])
    (one,) = chapters(found.runs)
    (sheet,), (note,) = cost_sheets(one, Places(tmp_path / "absent"), starts=found.starts)
    assert note.startswith(f"{tmp_path / 'start'}: {tmp_path / 'start' / 'checkpoints'}: expected")
    assert [row[0].shown for row in sheet.rows] == ["fine-tuning"]


def test_multi_task_methods_have_the_papers_names(tmp_path):
    """A note says which rows are POMO-MT-EL and POMO-MT-BL."""
    folders = [write(tmp_path, name, name) for name in ("multi-task-epoch", "fine-tuning")]
    (one,) = chapters(collect(folders).runs)
    (sheet,), _ = cost_sheets(one, Places(tmp_path / "absent"))
    assert "multi-task-epoch" in [row[0].shown for row in sheet.rows]
    assert "In the paper, multi-task-epoch is POMO-MT-EL." in sheet.note
