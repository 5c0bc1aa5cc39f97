"""Digests of the files of tasks."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import lifelong_co as lco
from lifelong_co.tasks.contents import digest, largest
from lifelong_co.tasks.task import Task


def test_digest_is_of_the_content_in_its_order(tmp_path: Path) -> None:
    """Not of names and places; of a folder all instance files count, and no other file."""
    for name, value in (("a", 0.25), ("b", 0.5)):
        np.savez(tmp_path / f"{name}.npz", nodes=np.full((1, 3, 2), value))
    for folder, names in (("ab", "ab"), ("ba", "ba"), ("xy", "ab")):
        (tmp_path / folder).mkdir()
        for name, to in zip(names, "xy" if folder == "xy" else "ab", strict=True):
            shutil.copy(tmp_path / f"{name}.npz", tmp_path / folder / f"{to}.npz")
    (tmp_path / "xy" / "notes.txt").write_text("no instances")

    def of(place: str) -> str:
        return digest(str(tmp_path / place), lco.problem("tsp"))

    assert of("ab") == of("xy") != of("ba")
    assert len({of("ab"), of("ba"), of("a.npz"), of("b.npz")}) == 4
    with pytest.raises(FileNotFoundError, match=r"c\.npz"):
        of("c.npz")


def test_largest_size_is_that_of_all_files(tmp_path: Path) -> None:
    """In any unit, if the task scales them."""
    for name, size in (("a", 3), ("b", 7), ("c", 5)):
        np.savez(tmp_path / f"{name}.npz", nodes=9 * np.random.default_rng(0).random((1, size, 2)))
    task = Task(files=str(tmp_path), scale=True, epochs=1, batches=1, batch_size=1)
    assert largest(task, lco.problem("tsp")) == 7
