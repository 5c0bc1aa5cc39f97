"""The paper's benchmark instances."""

from lifelong_co.experiments.benchmark.published import CVRPLIB, TSPLIB


def test_there_are_as_many_instances_as_in_the_paper():
    """The names say their sizes."""
    assert (len(TSPLIB), len(CVRPLIB)) == (23, 19)
    assert max(int(name.split("-")[1][1:]) for name in CVRPLIB) == 1001
