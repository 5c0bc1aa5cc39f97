"""Tasks."""

import inspect
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifelong_co as lco
from lifelong_co.tasks.task import Task, drifting, unique_labels

BUDGET = {"epochs": 2, "batches": 3, "batch_size": 4}


@pytest.mark.parametrize(
    "field", ["epochs", "batches", "batch_size", "last_batch_size", "capacity"]
)
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_bad_budget_is_refused(field: str, value: object) -> None:
    """Budgets are whole numbers of at least one; the error names the field and the value."""
    with pytest.raises(lco.ConfigError, match=f"{field}: expected .*got {value!r}"):
        Task(distribution="U", size=5, **{**BUDGET, field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(("last", "instances"), [(None, 12), (1, 9), (4, 12)])
def test_last_batch_of_an_epoch_has_its_size(last: int | None, instances: int) -> None:
    """All other batches have the batch size."""
    task = Task(distribution="U", size=5, last_batch_size=last, **BUDGET)
    assert [task.batch_size_at(step) for step in range(6)] == 2 * [4, 4, last or 4]
    assert task.instances == instances


def test_last_batch_above_the_batch_size_is_refused() -> None:
    """The error names both sizes."""
    with pytest.raises(lco.ConfigError, match=r"at most batch_size \(4\), got 5"):
        Task(distribution="U", size=5, last_batch_size=5, **BUDGET)


def test_unknown_tests_are_refused() -> None:
    """The error lists the two kinds."""
    with pytest.raises(lco.UnknownNameError, match="tests_of 'file'; expected one of: generator"):
        Task(distribution="U", size=5, tests_of="file", **BUDGET)


@pytest.mark.parametrize("size", [-4, 0, 1, 2.5])
def test_size_below_two_is_refused(size: int) -> None:
    """A task has at least two nodes."""
    with pytest.raises(lco.ConfigError, match=f"size: expected .*got {size}"):
        Task(distribution="U", size=size, **BUDGET)


@pytest.mark.parametrize(("distribution", "files"), [("", ""), ("U", "some.npz")])
def test_task_without_exactly_one_source_is_refused(distribution: str, files: str) -> None:
    """A task has a distribution or files, not both and not neither."""
    with pytest.raises(lco.ConfigError, match="expected either a distribution or files, got"):
        Task(distribution=distribution, files=files, size=5, **BUDGET)


def test_test_files_need_files() -> None:
    """Beside a distribution they would never be read."""
    with pytest.raises(lco.ConfigError, match="task test_files: expected files beside it, got 'U'"):
        Task(distribution="U", size=5, epochs=1, batches=1, batch_size=1, test_files="may.npz")


def test_label_is_the_name_or_says_the_source() -> None:
    """A label is the name, or distribution and size, or the name of the files without suffix."""
    assert Task(distribution="GM", size=100, **BUDGET).label == "GM100"
    assert Task(distribution="GM", size=100, name="clusters", **BUDGET).label == "clusters"
    assert Task(files="some/where/berlin.npz", **BUDGET).label == "berlin"


def test_attributes_are_part_of_label_and_tests() -> None:
    """Two tasks that differ in attributes have other names and other test instances."""
    plain = Task(distribution="U", size=20, **BUDGET)
    windy = attrs.evolve(plain, attributes=("windy", "open"), distance="manhattan")
    assert windy.label == "U20 windy open manhattan"
    assert (plain.tested["attributes"], windy.tested["attributes"]) == ("none", "windy open")


@pytest.mark.parametrize("attributes", [("",), ("two words",), ("open", "open")])
def test_attributes_that_are_no_different_names_are_refused(attributes: tuple[str, ...]) -> None:
    """They are parts of labels."""
    with pytest.raises(lco.ConfigError, match="attributes: expected different names"):
        Task(distribution="U", size=5, attributes=attributes, **BUDGET)


def test_attributes_that_are_one_text_are_refused() -> None:
    """It would count as its letters."""
    with pytest.raises(lco.ConfigError, match="attributes: expected a list of names, got 'open'"):
        Task(distribution="U", size=5, attributes="open", **BUDGET)  # type: ignore[arg-type]


def test_attributes_of_files_are_refused() -> None:
    """The instances in a file have theirs already."""
    with pytest.raises(lco.ConfigError, match=r"attributes: .* got files='a.npz'"):
        Task(files="a.npz", attributes=("open",), **BUDGET)


def test_capacity_of_files_is_refused() -> None:
    """The instances in a file have theirs; only those before a drift are drawn with it."""
    with pytest.raises(lco.ConfigError, match=r"capacity: .* got files='a.npz'"):
        Task(files="a.npz", capacity=40, **BUDGET)
    assert Task(files="a.npz", capacity=40, size=20, drift_from="U", **BUDGET).former.capacity == 40


def test_drift_between_other_attributes_is_refused() -> None:
    """A mixed batch would hold instances of two kinds."""
    plain = Task(distribution="U", size=20, **BUDGET)
    windy = attrs.evolve(plain, attributes=("windy",))
    with pytest.raises(lco.ConfigError, match="drift: task U20 windy: expected the attributes"):
        drifting((plain, windy))
    assert drifting((windy, attrs.evolve(windy, distribution="E")))[1].former.attributes


@given(st.lists(st.sampled_from(["a", "b", "a (2)", "a (3)", "a (2) (2)"]), max_size=8))
def test_labels_are_made_unique(names: list[str]) -> None:
    """The first task with a label keeps it, the next ones are numbered, others do not change."""
    tasks = tuple(Task(distribution="U", size=5, name=name, **BUDGET) for name in names)
    named = unique_labels(tasks)
    labels = [task.label for task in named]
    assert len(set(labels)) == len(names)
    for task, before in zip(named, tasks, strict=True):
        assert attrs.evolve(task, name=before.name) == before
        assert task.label.startswith(before.label)
    if len(set(names)) == len(names):
        assert labels == names


def test_repeated_task_is_numbered() -> None:
    """The labels are U20, U20 (2), U20 (3)."""
    task = Task(distribution="U", size=20, **BUDGET)
    labels = [each.label for each in unique_labels((task, task, task))]
    assert labels == ["U20", "U20 (2)", "U20 (3)"]


def test_numbers_of_numpy_and_paths_are_taken() -> None:
    """As the numbers and texts that they stand for."""
    task = Task(distribution="U", size=np.int64(5), **{**BUDGET, "epochs": np.arange(3)[2]})
    assert (task.size, task.epochs) == (5, 2)
    assert type(task.size) is type(task.epochs) is int
    assert Task(files=Path("june.npz"), **BUDGET).files == "june.npz"  # type: ignore[arg-type]
    listed = Task(distribution="U", size=5, attributes=["open"], **BUDGET)  # type: ignore[arg-type]
    assert hash(listed) == hash(attrs.evolve(listed, attributes=("open",)))


def test_signature_has_the_types_of_the_fields() -> None:
    """A notebook shows them."""
    types = inspect.signature(Task).parameters
    assert types["size"].annotation in (int, "int")
    assert types["files"].annotation in (str, "str")
