"""Models of files for the solvers of references: in the units of the files."""

import attrs
import numpy as np
import pytest
from paths import FIXTURES

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.references.file_models import STEPS, model_of_file
from lifelong_co.experiments.references.subject import of_file
from lifelong_co.instance_files.file_instance import distance_matrix
from lifelong_co.instance_files.formats import read_file
from lifelong_co.problems.mtvrp_model import MTVRPModel
from lifelong_co.problems.reference_models import RouteModel, TourModel
from lifelong_co.reference_solvers import Settings


@pytest.mark.parametrize(
    ("name", "model"), [("five.tsp", TourModel), ("four.atsp", TourModel), ("four.vrp", RouteModel)]
)
def test_rounded_distances_are_exact(name, model):
    """The model has the integers of the file."""
    instance = read_file(FIXTURES / name)
    made = model_of_file(instance)
    assert isinstance(made, model)
    assert (made.distances == distance_matrix(instance)).all()


def test_times_are_rounded_to_the_safe_side():
    """A route that is in time in the model is in time in the file."""
    instance = read_file(FIXTURES / "seven.txt")
    made = model_of_file(instance)
    assert isinstance(made, MTVRPModel)
    assert (made.durations >= distance_matrix(instance) * STEPS).all()
    assert made.times[4].tolist() == [30 * STEPS, 61 * STEPS, 10 * STEPS]
    assert made.horizon == 240 * STEPS
    np.testing.assert_allclose(made.distances, distance_matrix(instance) * STEPS, atol=0.5)


def test_references_of_files_solve_them():
    """The solution has no fault, and its cost is that of the file."""
    pytest.importorskip("pyvrp")
    pytest.importorskip("ortools")
    for name, best in (("four.atsp", 10), ("four.vrp", 43), ("seven.txt", None)):
        subject = of_file(read_file(FIXTURES / name))
        found = subject.model().solve(Settings(iterations=50, restarts=1, seconds=5))
        assert subject.fault(found.actions) == ""
        assert best is None or subject.cost(found.actions) == best


@pytest.mark.parametrize(("limit", "service", "best"), [(22, 0, 44), (25, 3, 50)])
def test_reference_keeps_the_limit_of_a_file(limit, service, best, tmp_path):
    """The two routes of the best solution without a limit have the lengths 20 and 23."""
    pytest.importorskip("pyvrp")
    lines = f"DISTANCE : {limit}\nSERVICE_TIME : {service}\nCAPACITY"
    path = tmp_path / "limited.vrp"
    path.write_text((FIXTURES / "four.vrp").read_text().replace("CAPACITY", lines))
    subject = of_file(read_file(path))
    found = subject.model().solve(Settings(iterations=50, restarts=1, seconds=5))
    assert subject.fault(found.actions) == ""
    assert subject.cost(found.actions) == best


def test_other_rules_are_refused():
    """A plugin's rules are not modelled."""
    instance = attrs.evolve(read_file(FIXTURES / "four.vrp"), problem="mine", rules=object())
    with pytest.raises(ConfigError, match="got mine with other rules"):
        model_of_file(instance)


def test_time_windows_belong_to_the_key():
    """Two files that differ in a window are different instances."""
    one = read_file(FIXTURES / "seven.txt")
    later = attrs.evolve(one.rules, due=one.rules.due + 1)
    assert of_file(one).key != of_file(attrs.evolve(one, rules=later)).key
    assert of_file(one).key == of_file(read_file(FIXTURES / "seven.txt")).key
