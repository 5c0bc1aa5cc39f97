"""Tables of a sweep: metrics by hand, and gaps where the tests have references."""

import csv
import io
import shutil
from pathlib import Path

import attrs
import pytest
from synthetic_references import lay
from synthetic_runs import finish, two_orders

from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.sweep import table
from lifelong_co.experiments.sweep.grid import grids_from_toml
from lifelong_co.experiments.sweep.plan import Block, Row, make_plan
from lifelong_co.runs import data_files
from lifelong_co.runs.costs import Cost


def test_the_table_by_hand(tmp_path):
    """Two tasks in both orders, two seeds, and d* over both methods."""
    plan = two_orders(tmp_path, "fine-tuning", "restart", name="two tasks")
    # The last row of costs, in excess of d* = 10, in per cent; restart is at d* throughout.
    final = {
        ("order1", 0): (1, 3),
        ("order1", 1): (2, 5),
        ("order2", 0): (5, 5),
        ("order2", 1): (8, 7),
    }
    for name, job in plan.jobs.items():
        job.prepare()
        order = Path(job.config.order).stem
        excess = final[order, job.config.seed] if "fine" in name else (0, 0)

        def shift(cost: Cost, excess: tuple[int, int] = excess) -> float:
            last = cost.learning == 2
            return 10 * (1 + excess[cost.tested - 1] / 100) if last else 10.0

        finish(job.folder, shift)
    results = table.gather(plan)
    header, first, second = table.table(results, plan.blocks[0]).shown
    assert header == ["method", "runs", "AP", "AF", "AMF", "APl", "AG"]
    # AP: orders' means 27.5 and 62.5; seeds' means 35 and 55, so half the interval is 12.706 * 10.
    # AF, AMF: the first task has risen by 1, 2, 5, 8 per cent. APl: half of the second's excess.
    forgotten = "40.0 (35.4) ± 127.1"
    assert first[:4] == ["fine-tuning", "4", "45.0 (24.7) ± 127.1", forgotten]
    assert first[4:] == [forgotten, "25.0 (7.1) ± 63.5", "0.0 (0.0) ± 0.0"]
    assert second == ["restart", "4", *["0.0 (0.0) ± 0.0"] * 5]
    text = table.as_text(results)
    assert "two tasks, cvrp, orders 1-2, seeds 0-1" in text
    assert "| fine-tuning | 4 | 45.0 (24.7) ± 127.1 |" in table.as_markdown(results)
    line = table.as_csv(results).splitlines()[1]
    assert line.startswith('"two tasks, cvrp, orders 1-2, seeds 0-1",cvrp,pomo,fine-tuning,4,4,')
    assert line.split(",fine-tuning,4,4,")[1].startswith("45,24.7487,127.062,")


# The last row of costs on U and E, by order and seed; restart has 6 and 10 throughout.
FINAL = {
    ("order1", 0): {"U5": 6.6, "E5": 11.0},
    ("order1", 1): {"U5": 6.0, "E5": 10.0},
    ("order2", 0): {"U5": 7.2, "E5": 12.0},
    ("order2", 1): {"U5": 6.6, "E5": 12.0},
}


LEVEL = {"U5": 6.0, "E5": 10.0}


@pytest.fixture
def plan(tmp_path):
    """Finish a sweep of two methods, two orders and two seeds; the other method has not begun."""
    made = two_orders(tmp_path, "fine-tuning", "restart", "ewc")
    cells = {n: (o, s) for row in made.blocks[0].rows for o, s, n in row.cells}
    for name, job in made.jobs.items():
        if job.config.method == "ewc":
            continue
        job.prepare()
        fine = job.config.method == "fine-tuning"
        final = FINAL[cells[name]] if fine else LEVEL
        finish(job.folder, lambda cost, final=final: final[cost.name])
    return made


def test_gaps_by_hand(plan, tmp_path):
    """The mean over the tasks that have references, its spread, and each task, in per cent."""
    tasks = {task.label: task for task in next(iter(plan.jobs.values())).config.tasks}
    for label, task in tasks.items():
        lay(tmp_path / "references", task, tests=4, cost=LEVEL[label])
    results = table.gather(plan, Places(tmp_path / "references"))
    text = table.as_text(results)
    caption = "on each task. References in " + str(tmp_path / "references")
    assert text.count(caption) == 1
    rows = [line.split("  ") for line in text.split(caption)[1].splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows if row != [""]]
    assert cells[0] == ["method", "mean gap", "U5", "E5"]
    assert cells[2] == ["reference", "6.0000", "10.0000"]
    # Runs: 10, 0; 20, 15. Orders' means 5 and 17.5; seeds' means 15 and 7.5, so half the interval
    # is 12.706 * 3.75.
    assert cells[3] == ["fine-tuning", "11.25 (8.84) ± 47.65", "10.00", "12.50"]
    assert cells[4] == ["restart", "0.00 (0.00) ± 0.00", "0.00", "0.00"]
    # ewc has no finished run.
    assert cells[5:] == [["restart is measured on each task just after learning it."]]
    shown = "| fine-tuning | 11.25 (8.84) ± 47.65 | 10.00 | 12.50 |"
    assert shown in table.as_markdown(results)
    first, _, last = csv.DictReader(io.StringIO(table.as_csv(results)))
    assert float(first["gap_percent"]) == pytest.approx(11.25, abs=1e-4)
    assert float(first["gap_percent_std_orders"]) == pytest.approx(8.83883, abs=1e-4)
    assert float(first["gap_percent_ci95_seeds"]) == pytest.approx(47.6483, abs=1e-3)
    assert first["gap_tasks"] == "U5, E5"
    assert first["gap_references"] == f"in {tmp_path / 'references'}"
    assert last["method"] == "ewc"
    assert last["gap_percent"] == last["gap_tasks"] == ""


def test_restart_is_measured_just_after_learning_each_task(tmp_path):
    """What it has forgotten by the end does not count."""
    plan = two_orders(tmp_path, "restart")
    for job in plan.jobs.values():
        job.prepare()
        finish(job.folder, lambda cost: LEVEL[cost.name] * (1 + abs(cost.learning - cost.tested)))
    for task in next(iter(plan.jobs.values())).config.tasks:
        lay(tmp_path / "references", task, tests=4, cost=LEVEL[task.label])
    results = table.gather(plan, Places(tmp_path / "references"))
    assert "| restart | 0.00 (0.00) ± 0.00 | 0.00 | 0.00 |" in table.as_markdown(results)


def test_runs_on_files_that_have_moved_have_one_best_cost(plan):
    """As in a comparison: equal digests, whatever the folder."""

    def moved(run, folder):
        tasks = tuple(
            attrs.evolve(t, distribution="", files=f"{folder}/{t.label}.npz", name=t.label)
            for t in run.config.tasks
        )
        data = {task.label: {"files": task.label} for task in tasks}
        return attrs.evolve(run, config=attrs.evolve(run.config, tasks=tasks), data=data)

    found = table.gather(plan).runs
    placed = {name: moved(run, f"/{i % 2}") for i, (name, run) in enumerate(found.items())}
    results = table.results_of(plan, placed)
    assert len(results.comparisons) == len(table.results_of(plan, found).comparisons)


def test_row_of_runs_on_files_of_different_content_is_named(tmp_path):
    """Test files are the same; a warning says that the mean is one of two experiments."""
    budget = "epochs = 4\nbatches = 2\nbatch_size = 4\n"
    files = 'files = "d.npz"\ntest_files = "t.npz"\nname = "mine"\nsize = 20\n'
    (tmp_path / "tasks.toml").write_text(
        f'{budget}[[tasks]]\n{files}[[tasks]]\ndistribution = "U"\nsize = 10\n'
    )
    text = 'problems = ["tsp"]\nmethods = ["ewc"]\nseeds = "0-2"\ntasks = ["tasks.toml"]\n'
    found = make_plan(grids_from_toml(text, "plan", tmp_path), tmp_path, check=False)
    for contents in ("aaa", "aab"):
        for content, job in zip(contents, found.jobs.values(), strict=True):
            shutil.rmtree(job.folder, ignore_errors=True)
            job.prepare()
            finish(job.folder)
            data_files.keep(job.folder, {"mine": {"files": content, "test_files": "c"}})
        warned = f"arning: ewc: its runs learned files of different content: {tmp_path}/d.npz, "
        for shown in (table.as_text, table.as_markdown):
            assert (warned in shown(table.gather(found))) == (contents == "aab")


def test_tests_after_the_next_task_are_explained(tmp_path):
    """A dash is a metric that was not measured."""
    found = two_orders(tmp_path, "ewc")
    for shown in (table.as_text, table.as_markdown):
        for after in ("all", "next"):
            jobs = {}
            for name, job in found.jobs.items():
                shutil.rmtree(job.folder, ignore_errors=True)
                config = attrs.evolve(job.config, tests_after=after)
                jobs[name] = attrs.evolve(job, config=config)
                jobs[name].prepare()
                finish(job.folder)
            text = shown(table.gather(attrs.evolve(found, jobs=jobs)))
            assert ('With tests_after = "next", d* is the lowest' in text) == (after == "next")


def test_tasks_without_references_are_left_out(plan, tmp_path):
    """The mean is over the others, as the columns show; a damaged file is named."""
    tasks = {task.label: task for task in next(iter(plan.jobs.values())).config.tasks}
    lay(tmp_path / "references", tasks["U5"], tests=4, cost=6.0)
    (tmp_path / "references" / "cvrp-E5.npz").write_text("torn")
    results = table.gather(plan, Places(tmp_path / "references"))
    text = table.as_text(results)
    assert "11.25" not in text
    assert "10.00 (7.07)" in text
    for shown in (text, table.as_markdown(results)):
        assert f"no gap on E5: {tmp_path / 'references' / 'cvrp-E5.npz'}: expected" in shown


def test_tables_without_references_do_not_change(plan, tmp_path):
    """Every form is the same to the byte, whether or not one looked."""
    before, after = table.gather(plan), table.gather(plan, Places(tmp_path / "absent"))
    for form in (table.as_text, table.as_markdown, table.as_csv):
        assert form(before) == form(after)
        assert "eference" not in form(after)


@pytest.mark.parametrize(
    ("orders", "shown"),
    [
        (("order2", "order3"), "orders 2-3"),
        (("order1",), "order 1"),
        (("5", "order6"), "5, order6"),  # task files of two months
        (("order1", "order²"), "order1, order²"),
    ],
)
def test_title_names_orders(orders, shown):
    """Only the paper's orders are numbers; the name of a task file may be any."""
    row = Row("llr-bc", "pomo", tuple((order, 0, order) for order in orders))
    assert table.title(Block("small", "cvrp", (row,))) == f"small, cvrp, {shown}, seed 0"
