"""What `make bench-smoke` compares a ratio with."""

import pytest


@pytest.fixture
def smoke(program):
    """Return the module."""
    return program("against_official")


def measured(cpu, mark, median, n=20):
    """Return a stored measurement of one figure."""
    found = {"mark": {"what": mark.what}, "problem": "tsp", "n": n, "value": {"median": median}}
    return {"cpu": cpu, "figures": [found]}


def test_a_figure_is_compared_with_the_one_of_the_same_processor_or_the_worst(smoke):
    """The worst ratio is the smallest, and the largest of those with an upper bound."""
    lower, upper = smoke.marks.WHOLE, smoke.marks.REDUCED
    for mark, worst in ((lower, 1.0), (upper, 1.5)):
        figure = smoke.Figure(mark, "tsp", 20, None)
        stored = [measured("a", mark, 1.5), measured("b", mark, 1.0)]
        assert smoke.expected(figure, stored, "a") == 1.5
        assert smoke.expected(figure, stored, "b") == 1.0
        assert smoke.expected(figure, stored, "c") == worst
        assert smoke.expected(figure, [measured("a", mark, 1.5, n=50)], "a") is None


def test_sampling_is_compared_with_its_target(smoke):
    """Its times are too short to repeat."""
    mark = smoke.marks.SAMPLING
    figure = smoke.Figure(mark, "tsp", 20, None)
    assert smoke.expected(figure, [measured("a", mark, 99.0)], "a") == mark.bounds[20]


def test_each_stored_measurement_has_its_processor(smoke):
    """Two of one processor would contradict each other."""
    processors = [smoke.read(name)["cpu"] for name in smoke.STORED]
    assert len({*processors}) == len(processors)
