"""Paired tests and the parts of AP in the report."""

from pathlib import Path

import pytest
from synthetic_chapters import write

from lifelong_co.experiments.paper import paired_tables
from lifelong_co.experiments.paper.assemble import paired_section
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.studies import Chapter, chapters


def made(root: Path, seeds: int = 3) -> Chapter:
    """Return runs of three methods and one setting in two orders, with some seeds each."""
    for seed in range(seeds):
        for method in ("fine-tuning", "llr-bc", "ewc", "multi-task-epoch"):
            for order in ("1", "2"):
                write(root, f"{method}-{order}-{seed}", method, order, seed=seed)
        write(root, f"kl-{seed}", seed=seed, options={"divergence": "kl"})
    [chapter] = chapters(collect([root]).runs)
    return chapter


def test_methods_and_settings_have_their_baselines(tmp_path: Path) -> None:
    """Methods are compared with the paper's, and its settings with its default."""
    [sheet] = paired_tables.paired(made(tmp_path))
    assert sheet.key == "paired-cvrp-pomo"
    against = {(block[0][0].shown, block[0][1].shown) for block in sheet.blocks}
    assert against == {
        ("fine-tuning", "llr-bc"),
        ("ewc", "llr-bc"),
        ("multi-task-epoch", "llr-bc"),
        ("llr-bc -KLD", "llr-bc"),
    }
    assert {row[3].shown for row in sheet.rows} == {"3"}, "seeds, not orders times seeds"
    assert paired_section([sheet]).sheets == (sheet,)


def test_few_seeds_are_said_in_place_of_the_table(tmp_path: Path) -> None:
    """The section is not empty without a reason."""
    sheets = paired_tables.paired(made(tmp_path, seeds=1))
    section = paired_section(sheets)
    assert section.empty
    assert paired_section(sheets * 2).missing == section.missing, "said once"
    said = "expected at least 3 common seeds with one kind of device and number of processes"
    assert said + ": fine-tuning and llr-bc (1)" in section.missing
    assert "needs runs of at least two methods" in paired_section([]).missing


def test_parts_of_ap_are_over_orders_and_seeds(tmp_path: Path) -> None:
    """Only lifelong methods have them; AP is that of the table over orders."""
    chapter = made(tmp_path)
    [sheet] = paired_tables.split(chapter)
    study = chapter.of("pomo")["cvrp"]
    assert [row[0].shown for row in sheet.rows] == [each.title for each in study.lifelong]
    for row, variant in zip(sheet.rows, study.lifelong, strict=True):
        found = study.spreads(variant.runs)
        assert row[1].shown == "6"
        for cell, name in ((row[2], "AP"), (row[3], "APl")):
            want = found[name].mean * 1e3
            assert float(cell.parts["1e-3"]) == pytest.approx(want, rel=1e-4)
