"""Digests of the files of tasks."""

import shutil
from pathlib import Path

import attrs
import numpy as np
import pytest

import lifelong_co as lco
from lifelong_co.tasks.contents import digests
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
    task = Task(files=str(tmp_path / "a.npz"), epochs=1, batches=1, batch_size=1, name="t")

    def of(place: str) -> str:
        one = attrs.evolve(task, test_files=str(tmp_path / place))
        found = digests([one], lco.problem("tsp"))
        assert found["t"].keys() == {"files", "test_files"}
        return found["t"]["test_files"]

    assert of("ab") == of("xy") != of("ba")
    assert len({of("ab"), of("ba"), of("a.npz"), of("b.npz")}) == 4
    drawn = attrs.evolve(task, files="", distribution="U", size=5)
    assert digests([drawn], lco.problem("tsp")) == {}
    with pytest.raises(FileNotFoundError, match=r"c\.npz"):
        of("c.npz")
