"""The sources of instances that need a reference."""

import pytest

from lifelong_co import registry
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.references import sources

TSP = registry.problem("tsp")
CVRP = registry.problem("cvrp")


def test_seed_0_draws_the_test_instances_of_a_task():
    """References of a distribution are those of a task's test instances."""
    from lifelong_co.experiments.references.subject import keys_of
    from lifelong_co.tasks.instances import testing
    from lifelong_co.tasks.task import Task

    task = Task(distribution="E", size=7, epochs=1, batches=1, batch_size=1)
    (group,) = testing(task, CVRP, 4)
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
    with pytest.raises(ConfigError, match=r"folder with \.vrp files, found none"):
        sources.from_files(tmp_path, CVRP)
