"""Run folders read back, checked to be comparable, grouped and labelled."""

import json
import re
from pathlib import Path
from typing import Any

import attrs
import pytest
import synthetic_runs

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.comparison import curves, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.labels import label
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.runs.folder import summary


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds each of llr-bc and fine-tuning."""
    root = tmp_path_factory.mktemp("runs")
    return [
        synthetic_runs.write(root / f"{method}-{seed}", synthetic_runs.config(method, seed=seed))
        for method in ("llr-bc", "fine-tuning")
        for seed in (0, 1)
    ]


@pytest.fixture(scope="module")
def comparison(folders: list[Path]) -> Comparison:
    """Set the four runs side by side."""
    return compare_folders(folders)


def test_a_run_folder_is_read_as_it_was_written(folders: list[Path]) -> None:
    """The cost matrix equals the one in metrics.json, and the log's seconds add up."""
    run = load_run(folders[0])
    written = json.loads((folders[0] / "metrics.json").read_text())
    assert [list(row) for row in run.costs] == written["costs"]
    assert list(run.names) == written["tasks"] == ["E20", "C40", "U10"]
    assert run.seconds == 12 * 1.5


def test_without_a_usable_log_only_the_time_is_unknown(tmp_path: Path) -> None:
    """A log that is missing or torn does not stop a report."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config(), log=False)
    assert load_run(folder).seconds is None
    (folder / "log.jsonl").write_text('{"seconds": 1.0}\n{"seco')
    assert load_run(folder).seconds is None


def test_folders_without_a_run_are_refused(tmp_path: Path) -> None:
    """A missing folder, a file and a folder of something else are each named."""
    with pytest.raises(ConfigError, match="absent: expected a run folder, found nothing"):
        load_run(tmp_path / "absent")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file: expected a run folder, found a file"):
        load_run(tmp_path / "file")
    with pytest.raises(ConfigError, match=re.escape(str(tmp_path))):
        load_run(tmp_path)


@pytest.mark.parametrize("learned", [0, 1, 2])
def test_an_unfinished_run_is_refused_with_how_to_finish_it(tmp_path: Path, learned: int) -> None:
    """The message counts the tasks that are learned and gives the command that goes on."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    if learned == 0:
        (folder / "costs.csv").unlink()
    else:
        lines = (folder / "costs.csv").read_text().splitlines(keepends=True)
        kept = [line for line in lines if not line[0].isdigit() or int(line[0]) <= learned]
        (folder / "costs.csv").write_text("".join(kept))
    with pytest.raises(ConfigError, match=rf"{learned} of 3 tasks.*run --resume {folder}"):
        load_run(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("learning,epoch", "learn,epoch", "line 1: expected the header"),
        ("\n1,1,1,E20,", "\n1,1,1,U10,", "line 2: task 1 is 'E20'"),
        ("\n1,1,1,E20,", "\n1,1,9,E20,", "line 2: expected tasks from 1 to 3"),
        ("\n1,1,1,E20,", "\n1,1,1,E20,nan", "line 2: expected learning"),
        ("\n1,1,1,E20,", "\n1,1,1,E20,x", "line 2: expected learning"),
        ("\n1,1,1,E20,", "\n1,1,1,E20,1.0\n1,1,1,E20,", "line 3: this test is in the file already"),
    ],
)
def test_damaged_costs_are_refused_by_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Every kind of damage to costs.csv is refused with the line it is in."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    text = (folder / "costs.csv").read_text()
    assert old in text
    (folder / "costs.csv").write_text(text.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=re.escape(said)):
        load_run(folder)


def test_runs_are_grouped_over_seeds_and_share_d_star(comparison: Comparison) -> None:
    """Four runs make two groups, and d* is the least cost of all four, not of each."""
    assert [(group.label, len(group.runs)) for group in comparison.groups] == [
        ("llr-bc", 2),
        ("fine-tuning", 2),
    ]
    for j, name in enumerate(["E20", "C40", "U10"]):
        assert comparison.best[name] == min(row[j] for run in comparison.runs for row in run.costs)


def test_multi_task_has_only_ap(tmp_path: Path) -> None:
    """Over several seeds as well; the caption says that it sets no d*."""
    paths = [
        synthetic_runs.write(tmp_path / f"{method}{seed}", synthetic_runs.config(method, seed=seed))
        for method in ("multi-task-epoch", "fine-tuning")
        for seed in (0, 1)
    ]
    found = compare_folders(paths)
    text = tables.as_text(found)
    row = next(line for line in text.splitlines() if line.startswith("multi-task-epoch"))
    assert re.fullmatch(r"multi-task-epoch +2 +-?[\d.]+ \([\d.]+\) +- +- +- +-", row)
    assert "d* of these 4 runs except multi-task" in text.replace("\n", " ")
    alone = tables.as_text(compare_folders(paths[:2]))
    assert "multi-task;" not in alone.replace("\n", " ")
    values = tables.as_json(found)["groups"][0]["runs"][0]["metrics"]
    assert values["AF"] is None
    assert (
        summary([[1.0, 2.0], [1.5, 1.0]], synthetic_runs.config("multi-task-batch"))["metrics"][
            "AF"
        ]
        is None
    )


def test_orders_share_d_star_by_name(tmp_path: Path) -> None:
    """Runs of different orders are compared, and each is measured on its own sequence."""
    one = synthetic_runs.write(tmp_path / "1", synthetic_runs.config())
    other = synthetic_runs.config(distributions=("U", "C", "E"), order="2")
    two = synthetic_runs.write(tmp_path / "2", other)
    found = compare_folders([one, two])
    assert [group.label for group in found.groups] == ["llr-bc (order=1)", "llr-bc (order=2)"]
    cells = [row[run.names.index("U10")] for run in found.runs for row in run.costs]
    assert found.best["U10"] == min(cells)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"problem": "tsp"}, "problem: cvrp and tsp"),
        ({"tests": 32}, "test instances of a task: 64 and 32"),
        ({"augment": True}, "augmentation at test: False and True"),
        ({"distributions": ("E", "C", "G")}, "tasks: C40, E20, U10 and C40, E20, G20"),
        ({"task": {"variant": "paper"}}, "task E20, variant: official and paper"),
        ({"task": {"capacity": 20}}, "task E20, capacity: the official rule and 20"),
        ({"task": {"size": 30, "name": "E20"}}, "task E20, size: 20 and 30"),
    ],
)
def test_runs_that_test_different_things_are_not_compared(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    """The first difference in what is tested is named with both values."""
    one = synthetic_runs.write(tmp_path / "1", synthetic_runs.config())
    two = synthetic_runs.write(tmp_path / "2", synthetic_runs.config(**settings))
    with pytest.raises(ConfigError, match=f"1 and .*2 cannot be compared: {said}"):
        compare_folders([one, two])


def test_runs_with_another_budget_have_another_row(tmp_path: Path) -> None:
    """How long a task was learned does not stop a comparison, but tells rows apart."""
    one = synthetic_runs.write(tmp_path / "1", synthetic_runs.config())
    two = synthetic_runs.write(tmp_path / "2", synthetic_runs.config(task={"batches": 9}))
    labels = [group.label for group in compare_folders([one, two]).groups]
    assert labels == ["llr-bc (batches=2)", "llr-bc (batches=9)"]


def test_runs_with_the_same_seed_are_not_grouped(tmp_path: Path) -> None:
    """Two folders of one seed stay apart under their paths; one folder twice is refused."""
    one, two = (
        synthetic_runs.write(tmp_path / name, synthetic_runs.config()) for name in ("a", "b")
    )
    labels = [group.label for group in compare_folders([one, two]).groups]
    assert labels == [f"llr-bc [{one}]", f"llr-bc [{two}]"]
    with pytest.raises(ConfigError, match="a: the same run is given twice"):
        compare_folders([one, tmp_path / "." / "a"])
    with pytest.raises(ConfigError, match="at least one run folder"):
        compare_folders([])


def test_labels_say_what_differs_and_no_more() -> None:
    """Options show where they tell runs of a method apart, the solver whenever it differs."""
    base = synthetic_runs.config()
    weak = attrs.evolve(base, method_options={"alpha": 1.0})
    plain = synthetic_runs.config("fine-tuning")
    assert label([base, plain]) == ["llr-bc", "fine-tuning"]
    assert label([base, weak, plain]) == ["llr-bc (alpha=100)", "llr-bc (alpha=1)", "fine-tuning"]
    omni = attrs.evolve(plain, solver="omni")
    assert label([base, omni]) == ["llr-bc (solver=pomo)", "fine-tuning (solver=omni)"]
    many = [attrs.evolve(base, method_options={f"o{i}": v for i in range(5)}) for v in (1, 2)]
    assert label(many)[0] == "llr-bc (o0=1, o1=1, o2=1, ...)"


def test_curves_run_over_all_epochs_and_end_at_the_metrics(comparison: Comparison) -> None:
    """The gap curve ends at AP, and a task's segment starts with the tests made before it."""
    run = comparison.runs[2]
    gaps = curves.learned(run, comparison.best)
    assert gaps[-1][-1] == pytest.approx((12.0, comparison.metrics(run).AP))
    assert [x for x, _ in gaps[1]] == [4.0, 5.0, 6.0, 7.0, 8.0]
    assert curves.learned(run)[1][0][1] == pytest.approx((run.costs[0][0] + run.costs[0][1]) / 2)
    current = curves.current(run)
    assert current[0][0] == (1.0, run.tests[1, 1][1])
    assert current[2][0] == (8.0, run.costs[1][2])
    assert current[2][-1] == (12.0, run.costs[2][2])


def test_curve_of_a_task_separates_zero_shot_from_learned(comparison: Comparison) -> None:
    """A task is tested after each earlier task before its own start, which both parts share."""
    run = comparison.runs[0]
    before, after = curves.of_task(run, 3)
    assert before == [(4.0, run.costs[0][2]), (8.0, run.costs[1][2])]
    assert [x for x, _ in after] == [8.0, 9.0, 10.0, 11.0, 12.0]
    before, after = curves.of_task(run, 1)
    assert before == []
    assert [x for x, _ in after] == [float(x) for x in range(1, 13)]


def test_bands_join_the_epochs_that_all_seeds_tested() -> None:
    """A point that one seed lacks is left out; the others give mean and range."""
    found = curves.bands([[(1.0, 2.0), (2.0, 4.0)], [(2.0, 6.0), (3.0, 1.0)]])
    assert found == [curves.Band(2.0, 5.0, 4.0, 6.0)]
