"""Gaps of costs to references, and where the references come from."""

from pathlib import Path

import attrs
import numpy as np
import pytest
import synthetic_runs
from synthetic_references import OWN, THEIRS, TSP, squares

from lifelong_co.experiments.references import gaps, lookup
from lifelong_co.experiments.references.cache import Cache, Reference
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.references.subject import of_instances
from lifelong_co.tasks.contents import digest
from lifelong_co.tasks.task import Task


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


def test_files_with_another_content_have_no_gap(tmp_path):
    """Their references are of other instances than the costs of the run."""
    file = tmp_path / "mine.npz"
    np.savez(file, nodes=squares().nodes.numpy())
    places = Places(tmp_path / "references")
    found = {"cost": 2.0, "actions": [0, 1, 2, 3], "proven": True, "seconds": 1.0}
    how = {"solver": "x", "version": "1", "settings": {}}
    for one in of_instances(squares(), TSP, "mine"):
        Cache(places.own).put(one, Reference(name=one.name, size=one.size, **found, **how))
    task = Task(files=str(file), name="mine", epochs=1, batches=1, batch_size=1)
    of = attrs.evolve(synthetic_runs.config(problem="tsp"), tasks=(task,))
    now = {"mine": {"files": digest(str(file), TSP)}}
    assert gaps.mean_references(of, places, held=now).means == {"mine": 2.0}
    before = {"mine": {"files": "0" * 64}}
    missed = gaps.mean_references(of, places, held=before)
    assert not missed.means
    assert missed.notes == [
        f"no gap on mine: task mine: {file} has another content than when the run began"
    ]
