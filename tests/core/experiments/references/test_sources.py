"""The sources of instances that need a reference."""

import numpy as np
import pytest
from paths import FIXTURES

from lifelong_co import registry
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.references import sources
from lifelong_co.experiments.references.subject import keys_of
from lifelong_co.instance_files.pool import load_instances
from lifelong_co.tasks import instances
from lifelong_co.tasks.task import Task

TSP = registry.problem("tsp")
CVRP = registry.problem("cvrp")


def test_seed_0_draws_the_test_instances_of_a_task():
    """References of a distribution are those of a task's test instances."""
    task = Task(distribution="E", size=7, epochs=1, batches=1, batch_size=1)
    (group,) = instances.testing(task, CVRP, 4)
    drawn = sources.from_distribution("E", CVRP, 7, 4)
    assert [one.key for one in drawn] == keys_of(group, CVRP)
    assert drawn[0].name == "E7 #0"


def test_files_are_read_in_rounded_or_scaled_units(tmp_path):
    """Rounded distances by default, the unit square when scaled; nothing there is an error."""
    text = (
        "NAME: s\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        "1 0 0\n2 0 10\n3 10 0\nEOF\n"
    )
    (tmp_path / "s.tsp").write_text(text)
    (own,) = sources.from_files(tmp_path, TSP)
    (seen,) = sources.from_files(tmp_path, TSP, scaled=True)
    assert own.cost([0, 1, 2]) == 34
    assert seen.cost([0, 1, 2]) == pytest.approx(2 + 2**0.5)
    assert own.key != seen.key
    (tmp_path / "t.tsp").write_text(text.replace("EUC_2D", "GEO"))
    said: list[str] = []
    assert [one.key for one in sources.from_files(tmp_path, TSP, log=said.append)] == [own.key]
    assert "t.tsp: EDGE_WEIGHT_TYPE: GEO is not supported" in said[0]
    (tmp_path / "s.tsp").unlink()
    with pytest.raises(FileFormatError, match="GEO is not supported"):
        sources.from_files(tmp_path, TSP)
    with pytest.raises(ConfigError, match=r"\.vrp files, as cvrp has, found t\.tsp of tsp"):
        sources.from_files(tmp_path, CVRP)


def test_instances_in_any_unit_are_scaled_as_in_a_task(tmp_path):
    """So a test with `scale` finds the reference."""
    file = tmp_path / "town.npz"
    np.savez(file, nodes=np.array([[[0.0, 0.0], [0.0, 30.0], [40.0, 0.0]]], dtype=np.float32))
    with pytest.raises(FileFormatError, match=r"the option scale .*of references: scaled"):
        sources.from_files(file, TSP)
    (one,) = sources.from_files(file, TSP, scaled=True)
    (group,) = load_instances(file, TSP, scale=True)
    assert [one.key] == keys_of(group, TSP)


def test_instances_inside_the_unit_square_are_scaled_as_in_a_task(tmp_path):
    """To the borders of the square, as a task with `scale` does."""
    file, drawn = tmp_path / "town.npz", np.random.default_rng(0)
    np.savez(file, nodes=drawn.random((2, 6, 2), dtype=np.float32))
    (group,) = load_instances(file, TSP, scale=True)
    assert [one.key for one in sources.from_files(file, TSP, scaled=True)] == keys_of(group, TSP)
    (group,) = load_instances(file, TSP)
    assert [one.key for one in sources.from_files(file, TSP)] == keys_of(group, TSP)


def test_folder_gives_the_instances_of_one_problem(tmp_path):
    """A mean over two problems says nothing; the others are named."""
    text = (FIXTURES / "four.vrp").read_text()
    (tmp_path / "b.vrp").write_text(text)
    limited = text.replace("CAPACITY", "DISTANCE : 30\nCAPACITY")
    (tmp_path / "a.vrp").write_text(limited)
    said: list[str] = []
    (only,) = sources.from_files(tmp_path, registry.problem("cvrp"), log=said.append)
    assert only.problem == "cvrp"
    assert said == [
        f"left out: {tmp_path / 'a.vrp'}: expected an instance of cvrp, got one of mtvrp"
    ]
    (tmp_path / "c.tsp").write_text("")
    sources.from_files(tmp_path, registry.problem("cvrp"), log=said.append)
    assert f"left out: {tmp_path / 'c.tsp'}: expected a file of cvrp, got one of tsp" in said
    (tmp_path / "b.vrp").write_text(limited)
    assert len(sources.from_files(tmp_path, registry.problem("cvrp"))) == 2
