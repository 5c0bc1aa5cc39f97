"""Where references are looked for, and for which tasks others' are asked."""

import attrs
import pytest
from synthetic_references import lay

from lifelong_co import registry
from lifelong_co.experiments.references import gaps, lookup, places
from lifelong_co.experiments.references.places import Places
from lifelong_co.tasks.task import Task

TSP = registry.problem("tsp")
TASK = Task(distribution="U", size=20, epochs=1, batches=1, batch_size=1)
TESTS = 1000


@pytest.fixture
def official(tmp_path):
    """Return a folder with costs of the official test set U, as they are published."""
    return lay(tmp_path / "testsets", TASK, TESTS, 3.8, "tsp").parent


def test_official_test_sets_find_published_costs(tmp_path, official):
    """After the user's own folder, and without one; in the order given."""
    known = lookup.of_task(Places(tmp_path / "absent", (official,)), TASK, TSP, TESTS)
    assert len(known) == TESTS
    assert lookup.origins(known) == (official,)
    assert gaps.mean_reference(known) == pytest.approx(3.8)
    own = tmp_path / "own"
    own.mkdir()
    looked = Places(own, (official, tmp_path / "missing"))
    assert looked.of(TASK, TSP, TESTS) == (own, official)
    assert looked.named((own, official)) == f"{own} and {official} (published)"


@pytest.mark.parametrize(
    ("changes", "tests"),
    [
        ({}, 64),
        ({"size": 10}, TESTS),
        ({"capacity": 40}, TESTS),
        ({"variant": "paper"}, TESTS),
        ({"distance": "manhattan"}, TESTS),
        ({"distribution": "", "size": 0, "files": "some.npz"}, TESTS),
    ],
)
def test_published_folders_are_not_read_for_other_tests(tmp_path, official, changes, tests):
    """Only the paper's own thousand instances can have their costs there."""
    task = attrs.evolve(TASK, **changes)
    looked = Places(tmp_path / "absent", (official,))
    assert looked.of(task, TSP, tests) == ()
    assert looked.of(TASK, TSP, TESTS) == (official,)


def test_no_instances_are_drawn_without_folders(tmp_path, monkeypatch):
    """Neither test instances nor official ones: a report costs nothing more than before."""

    def never(*_):
        raise AssertionError

    monkeypatch.setattr(lookup, "testing", never)
    monkeypatch.setattr(places, "papers_own", never)
    absent = Places(tmp_path / "absent", (tmp_path / "missing",))
    assert lookup.of_task(absent, TASK, TSP, TESTS) == []
