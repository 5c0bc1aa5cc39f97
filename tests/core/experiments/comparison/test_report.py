"""The page of a comparison."""

import re
from pathlib import Path

import attrs
import pages
import synthetic_runs

from lifelong_co.experiments.comparison import publish, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page


def test_the_page_is_self_contained(comparison: Comparison) -> None:
    """Nothing is loaded from elsewhere: images are data, there is no script and no style sheet."""
    text = page(make_report(comparison, publish.draw(comparison)))
    parsed = pages.parse(text)
    assert len(parsed.links) == 2
    assert all(link.startswith("data:image/png;base64,") for link in parsed.links)
    assert not {"script", "link", "iframe"} & set(parsed.tags)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert "@import" not in text
    assert parsed.tags.count("details") == 1 + 4  # the terms, and the costs of each run


def test_page_of_three_hundred_tasks_is_small(tmp_path: Path) -> None:
    """It has below 2 MB: panels and numbers of some tasks, and a picture of the whole matrix."""
    config = synthetic_runs.config(epochs=1)
    tasks = [attrs.evolve(config.tasks[i % 3], name=f"T{i + 1}") for i in range(300)]
    folder = synthetic_runs.write(tmp_path / "run", attrs.evolve(config, tasks=tuple(tasks)))
    found = compare_folders([folder])
    images = publish.draw(found)
    assert set(images) == {"forgetting", "plasticity", "costs"}
    text = page(make_report(found, images))
    assert len(text) < 2e6
    parsed = pages.parse(text)
    assert len(parsed.links) == 3
    assert parsed.tags.count("details") == 1 + 1  # the terms, and the table of the tasks
    assert "12 of 300 tasks; costs.csv has all." in text
    assert "T1 → T2 → T3 → … (294 more) → T298 → T299 → T300" in text


def test_what_holds_of_multi_task_runs_is_said(tmp_path: Path) -> None:
    """They do not set d*, and learn no task after another."""
    paths = [
        synthetic_runs.write(tmp_path / method, synthetic_runs.config(method))
        for method in ("multi-task-epoch", "fine-tuning")
    ]
    said = ("on this page except multi-task ones", "its table has one row")
    for chosen, expected in ((paths, [True, True]), (paths[:1], [False, True]),
                             (paths[1:], [False, False])):  # fmt: skip
        text = " ".join(page(make_report(compare_folders(chosen), {})).split())
        assert [each in text for each in said] == expected
    both, alone = compare_folders(paths), compare_folders(paths[:1])
    assert publish.draw(both)["forgetting"].startswith(b"\x89PNG")
    text = page(make_report(both, publish.draw(both)))
    assert "Forgetting curves of fine-tuning" in text
    assert publish.draw(alone) == {}
    assert "needs runs of a method that learns one task after another" in page(
        make_report(alone, {})
    )


def test_costs_of_files_are_said_to_be_scaled(tmp_path: Path) -> None:
    """A reader could take them for kilometers; other runs have no unit to lose."""
    task = {"distribution": "", "size": 0, "files": "may.npz", "name": "may"}
    comparisons = [
        compare_folders([synthetic_runs.write(tmp_path / name, synthetic_runs.config(task=given))])
        for name, given in (("files", task), ("drawn", None))
    ]
    texts = [tables.as_text(each) for each in comparisons]
    pages = [page(make_report(each, {})) for each in comparisons]
    for files, drawn in (texts, pages):
        assert "in the unit of a file" in files
        assert "in the unit of a file" not in drawn
