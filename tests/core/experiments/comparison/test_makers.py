"""Runs made by different versions are warned of wherever their numbers stand side by side."""

import json
from pathlib import Path

import attrs
import pytest
import synthetic_runs
from command_line import call
from synthetic_runs import finish, two_orders

from lifelong_co.experiments.comparison.comparison import compare_folders
from lifelong_co.experiments.comparison.makers import mixed
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page
from lifelong_co.experiments.paper import assemble
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.sweep import table
from lifelong_co.runs import provenance, starts
from lifelong_co.runs.provenance import Maker

ONE = Maker(lifelong_co="1.0", commit="0123456789abcdef", torch="2.6", threads=1)
TWO = attrs.evolve(ONE, torch="2.7")
SAID = "these runs were made by different versions: lifelong-co 1.0 (0123456789ab), torch 2.6"


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Return two runs, of one seed each, that nobody signed."""
    return [
        synthetic_runs.write(tmp_path / f"seed {seed}", synthetic_runs.config(seed=seed))
        for seed in (0, 1)
    ]


def test_one_version_is_not_mentioned(folders: list[Path]) -> None:
    """Neither if all versions are unknown, nor if only the threads differ."""
    assert mixed(compare_folders(folders).runs) == ""
    for folder, maker in zip(folders, (ONE, attrs.evolve(ONE, threads=2)), strict=True):
        provenance.note(folder, 0, maker)
    runs = compare_folders(folders).runs
    assert runs[0].made_by == ("lifelong-co 1.0 (0123456789ab), torch 2.6",)
    assert mixed(runs) == ""


@pytest.mark.parametrize("other", [TWO, attrs.evolve(ONE, commit="f" * 40), None])
def test_other_versions_are_named(folders: list[Path], other: Maker | None) -> None:
    """One line names each version with a run of it; without the file it is unknown."""
    provenance.note(folders[0], 0, ONE)
    if other is not None:
        provenance.note(folders[1], 0, other)
    second = other.versions if other else "unknown"
    line = mixed(compare_folders(folders).runs)
    assert line == f"{SAID}: {folders[0]}; {second}: {folders[1]}"


def test_other_code_of_one_plugin_is_named(folders: list[Path]) -> None:
    """A run without the plugin is no reason; two versions of it are."""
    provenance.note(folders[0], 0, attrs.evolve(ONE, plugins={"mine": "0.1 aa"}))
    provenance.note(folders[1], 0, ONE)
    assert mixed(compare_folders(folders).runs) == ""
    provenance.note(folders[1], 0, attrs.evolve(ONE, plugins={"mine": "0.2 bb", "other": "1 cc"}))
    line = mixed(compare_folders(folders).runs)
    assert line.endswith(f"versions: mine 0.1 aa: {folders[0]}; mine 0.2 bb: {folders[1]}")


def test_other_checkpoints_of_one_start_are_named(tmp_path: Path) -> None:
    """The other run has learned on in between; other starts are other settings."""
    folders = []
    for number, (place, digest) in enumerate((("a", "0"), ("a", "1"), ("b", "2"))):
        config = attrs.evolve(synthetic_runs.config(seed=number), start_from=place)
        folders.append(synthetic_runs.write(tmp_path / str(number), config))
        (folders[-1] / starts.FILE).write_text(json.dumps({"start_from": digest}))
    said = "these runs began from different checkpoints of one folder: start_from a"
    assert mixed(compare_folders(folders).runs) == f"{said}: {folders[0]}; {folders[1]}"
    assert mixed(compare_folders(folders[1:]).runs) == ""


def test_run_resumed_by_another_version_is_mixed_alone(folders: list[Path]) -> None:
    """Its first steps and its last ones were made by different versions."""
    provenance.note(folders[0], 0, ONE)
    provenance.note(folders[0], 7, TWO)
    both = f"{ONE.versions}; {TWO.versions}"
    assert (
        mixed(compare_folders(folders[:1]).runs) == f"this run was made by several versions: {both}"
    )
    assert mixed(compare_folders(folders).runs).startswith(SAID)


def test_comparison_and_report_warn(folders: list[Path], tmp_path: Path) -> None:
    """In the text, on standard error beside the other formats, and on the page."""
    for folder, maker in zip(folders, (ONE, TWO), strict=True):
        provenance.note(folder, 0, maker)
    assert f"\nwarning: {SAID}" in call("compare", *folders).out
    assert f"warning: {SAID}" in call("compare", *folders, "--format=csv").err
    text = page(make_report(compare_folders(folders), {}))
    assert f"Warning: {SAID}" in text
    assert '<td class="word">made by</td>' in text or "made by</th>" in text
    said: list[str] = []
    report = assemble.make_report(collect(folders), Places(tmp_path / "absent"), said.append)
    assert [line for line in said if line.startswith("warning: ")] == [f"warning: {_both(folders)}"]
    assert f"Warning: {SAID}" in page(report)
    [runs] = [sheet for sheet in report.sheets if sheet.title == "The runs"]
    assert TWO.versions in [cell.shown for row in runs.rows for cell in row]


def test_tables_of_a_sweep_warn(tmp_path: Path) -> None:
    """Once below all tables."""
    plan = two_orders(tmp_path, "restart")
    for number, job in enumerate(plan.jobs.values()):
        job.prepare()
        finish(job.folder)
        provenance.note(job.folder, 0, TWO if number else ONE)
    results = table.gather(plan)
    assert table.as_text(results).count(f"warning: {SAID}") == 1
    assert table.as_markdown(results).count(f"Warning: {SAID}") == 1
    assert "3 more" not in table.as_text(results)
    assert "and 2 more" in table.as_text(results)


def _both(folders: list[Path]) -> str:
    return f"{SAID}: {folders[0]}; {TWO.versions}: {folders[1]}"
