"""Runs checked to be comparable, and grouped over seeds."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import synthetic_runs

from lifelong_co import metrics
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison.comparison import (
    Comparison,
    compare_folders,
    compare_runs,
    measured,
)
from lifelong_co.experiments.comparison.runs import FinishedRun, in_one_place
from lifelong_co.experiments.paper.studies import chapters
from lifelong_co.runs.costs import Cost
from lifelong_co.runs.folder import RunFolder


def test_runs_are_grouped_over_seeds_and_share_d_star(comparison: Comparison) -> None:
    """Four runs make two groups, and d* is the least cost of all four, not of each."""
    assert [(group.label, len(group.runs)) for group in comparison.groups] == [
        ("llr-bc", 2),
        ("fine-tuning", 2),
    ]
    for j, name in enumerate(["E20", "C40", "U10"]):
        assert comparison.best[name] == min(row[j] for run in comparison.runs for row in run.costs)


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
        (
            {"distributions": ("E", "C", "G")},
            "only .*1 has U10; only .*2 has G20; a finished run can",
        ),
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


def test_runs_tested_on_other_images_are_not_compared(tmp_path: Path) -> None:
    """Eight turned and mirrored images are another test than random ones."""
    folders = [
        synthetic_runs.write(tmp_path / name, synthetic_runs.config(augment=True, symmetries=name))
        for name in ("square", "random")
    ]
    with pytest.raises(ConfigError, match="images at test: square and random"):
        compare_folders(folders)


def test_moved_test_files_are_the_same_if_their_content_is(
    comparison: Comparison, tmp_path: Path
) -> None:
    """The digest decides where both runs have it, otherwise the path; so two seeds are a group.

    Their path is one that is there.
    """
    first, second = comparison.runs[:2]

    def tested_on(run: FinishedRun, file: str, digest: str) -> FinishedRun:
        task = attrs.evolve(run.config.tasks[0], distribution="", files=file, name="mine")
        config = attrs.evolve(run.config, tasks=(task, *run.config.tasks[1:]))
        return attrs.evolve(run, config=config, data={"mine": {"files": digest}} if digest else {})

    here = tested_on(first, "/a/x.npz", "1f")
    moved = tested_on(second, "/b/x.npz", "1f")
    assert [len(group.runs) for group in compare_runs([here, moved]).groups] == [2]
    (chapter,) = chapters([here, moved])
    assert [len(variant.runs) for variant in chapter.studies[0].variants] == [2]
    (tmp_path / "x.npz").touch()
    there = tested_on(second, str(tmp_path / "x.npz"), "1f")
    hidden = tested_on(first, "/x" * 300 + ".npz", "1f")
    for runs in ([here, there, moved], [there, here], [moved, there], [hidden, there]):
        assert {r.config.tasks[0].files for r in in_one_place(runs)} == {str(tmp_path / "x.npz")}
    unknown = attrs.evolve(moved, config=tested_on(second, "/a/x.npz", "").config, data={})
    assert [len(group.runs) for group in compare_runs([here, unknown]).groups] == [2]
    with pytest.raises(ConfigError, match="SHA-256 of the test files: 1f and 2e"):
        compare_runs([here, tested_on(second, "/a/x.npz", "2e")])
    with pytest.raises(ConfigError, match=r"test files: /a/x.npz and /b/x.npz"):
        compare_runs([here, tested_on(second, "/b/x.npz", "")])


def test_runs_with_another_budget_have_another_row(tmp_path: Path) -> None:
    """How long a task was learned does not stop a comparison, but tells rows apart."""
    one = synthetic_runs.write(tmp_path / "1", synthetic_runs.config())
    two = synthetic_runs.write(tmp_path / "2", synthetic_runs.config(task={"batches": 9}))
    labels = [group.label for group in compare_folders([one, two]).groups]
    assert labels == ["llr-bc (batches=2)", "llr-bc (batches=9)"]


def test_paths_of_a_task_file_are_no_difference(tmp_path: Path) -> None:
    """The seeds of a method are one row, from wherever each was started."""
    folders = [
        synthetic_runs.write(tmp_path / str(seed), synthetic_runs.config(order=order, seed=seed))
        for seed, order in enumerate(("tasks.toml", "./tasks.toml", "/w/tasks.toml"))
    ]
    (group,) = compare_folders(folders).groups
    assert len(group.runs) == 3


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


def test_published_d_star_is_over_every_test(tmp_path: Path) -> None:
    """A test during a task counts, and one of another order; the text counts ends of tasks only."""
    one = synthetic_runs.write(tmp_path / "1", synthetic_runs.config())
    other = synthetic_runs.config(distributions=("U", "C", "E"), order="2")
    two = synthetic_runs.write(tmp_path / "2", other)
    costs = [attrs.evolve(c, cost=1.5) if _during(c) else c for c in synthetic_runs.costs(other)]
    synthetic_runs.record(RunFolder(two), other, costs, None)
    text, published = (compare_folders([one, two], name) for name in ("text", "published"))
    assert text.best["C40"] > 14
    assert published.best["C40"] == 1.5
    least = min(row[1] for row in published.runs[0].tests.values())
    assert published.best["E20"] == min(least, published.runs[1].least["E20"])


def test_multi_task_sets_no_published_d_star(tmp_path: Path) -> None:
    """As in the text, except if there are no other runs."""
    kinds = ("multi-task-epoch", "fine-tuning")
    at_once, tuned = (
        synthetic_runs.write(tmp_path / kind, synthetic_runs.config(kind)) for kind in kinds
    )
    both, single = (compare_folders(of, "published") for of in ([at_once, tuned], [at_once]))
    assert both.best == both.groups[1].runs[0].least
    assert single.best == single.runs[0].least


def test_published_metrics_and_deviation(folders: list[Path]) -> None:
    """AF and AMF end before the last task; the deviation over seeds is divided by n."""
    found = compare_folders(folders, "published")
    run = found.runs[0]
    expected = metrics.summarize(run.costs, list(found.best.values()), definition="published")
    assert found.metrics(run) == expected
    # After the first two tasks: AP as published is that at the end of the run.
    ends = [run.costs[-1][j] / found.best[name] - 1 for j, name in enumerate(run.names[:2])]
    early = measured(run, found.best, 2, "published")
    assert pytest.approx(sum(ends) / 2) == early.AP
    assert pytest.approx(early.AP) != measured(run, found.best, 2).AP
    one, two = (found.metrics(run).AG for run in found.groups[0].runs)
    assert found.spread(found.groups[0], "AG").deviation == pytest.approx(abs(one - two) / 2)


def _during(cost: Cost) -> bool:
    return (cost.learning, cost.epoch, cost.name) == (2, 2, "C40")
