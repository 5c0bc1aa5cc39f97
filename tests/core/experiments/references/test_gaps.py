"""Gaps of costs to references, and where the references come from."""

from pathlib import Path

import pytest
import synthetic_runs
from synthetic_references import OWN, THEIRS

from lifelong_co.experiments.references import gaps, lookup
from lifelong_co.experiments.references.places import Places


def reference(cost):
    """Return a reference that was found in the working directory."""
    return lookup.Known(cost, Path("references"))


def test_gaps_use_the_means_over_instances_with_references():
    """Mean cost over mean reference; instances without a reference are left out and counted."""
    gap = gaps.gap_of([11.0, 5.0, 22.0], [reference(10.0), None, reference(20.0)])
    assert (gap.value, gap.reference) == (pytest.approx(0.1), 15.0)
    assert str(gap) == "gap 10.00% on 2 of 3 instances"
    assert str(gaps.gap_of([2.0], [reference(1.0)])) == "gap 100.00%"
    assert gaps.gap_of([1.0], [None]) is None
    assert gaps.gap_of([1.0], []) is None  # there was no folder to look in


def test_origin_names_the_folder_of_each_task():
    """Each origin with its tasks."""
    folders = {"E20": (OWN,), "U10": (THEIRS,), "R20": (OWN,)}
    found = gaps.MeanReferences(Places(OWN), dict.fromkeys(folders, 1.0), folders)
    assert found.origin == "in own for E20, R20; in theirs (published) for U10"


def test_without_the_plugin_of_its_problem_a_run_has_no_gaps():
    """The report goes on, with a note for each task."""
    of = synthetic_runs.config(problem="elsewhere")
    found = gaps.mean_references(of, Places())
    assert not found.means
    assert len(found.notes) == len(of.tasks)
    assert "'elsewhere'" in found.notes[0]
