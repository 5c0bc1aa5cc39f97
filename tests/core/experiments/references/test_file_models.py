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


def windows(tmp_path, *, service=0.0, horizon=30.0, demand=None, capacity=10):
    """Return the four customers as a VRPTW with rounded distances, from 5 to 10 from the depot."""
    head, body = (FIXTURES / "four.vrp").read_text().replace("CVRP", "VRPTW").split("NODE_")
    head = head.replace("CAPACITY : 10", f"CAPACITY : {capacity}")
    if demand is not None:
        first, rest = body.split("DEMAND_SECTION")
        rest = rest[rest.index("DEPOT_SECTION") :]
        loads = "".join(f"{i} {d}\n" for i, d in enumerate([0, *demand], start=1))
        body = f"{first}DEMAND_SECTION\n{loads}{rest}"
    times = "".join(f"{i} 0 {horizon}\n" for i in range(1, 6)) + "SERVICE_TIME_SECTION\n1 0\n"
    times += "".join(f"{i} {service}\n" for i in range(2, 6))
    path = tmp_path / "windows.vrp"
    path.write_text(f"{head}NODE_{body}".replace("DEPOT_", f"TIME_WINDOW_SECTION\n{times}DEPOT_"))
    return read_file(path)


@pytest.mark.parametrize(
    ("service", "horizon", "best"), [(0.25, 20.5, 44), (0.5, 20.5, 50), (0.1, 20.3, 44)]
)
def test_fractions_of_times_count_beside_rounded_distances(service, horizon, best, tmp_path):
    """The route with the cost 20 takes twice a service longer; with a service of 1 it is late."""
    pytest.importorskip("pyvrp")
    subject = of_file(windows(tmp_path, service=service, horizon=horizon))
    found = subject.model().solve(Settings(iterations=50, restarts=1, seconds=5))
    assert subject.fault(found.actions) == ""
    assert subject.cost(found.actions) == best


def test_window_between_two_steps_can_be_met():
    """A file may state times with more digits than the model has."""
    pytest.importorskip("pyvrp")
    one = read_file(FIXTURES / "seven.txt")
    ready, due = one.rules.ready.copy(), one.rules.due.copy()
    ready[4], due[4] = 60.00001, 60.00002
    subject = of_file(attrs.evolve(one, rules=attrs.evolve(one.rules, ready=ready, due=due)))
    found = subject.model().solve(Settings(iterations=50, restarts=1, seconds=5))
    assert subject.fault(found.actions) == ""


def test_latest_time_that_rounding_would_miss_is_met():
    """The customer alone arrives at the last moment: its drive is rounded up, its time down."""
    one = read_file(FIXTURES / "seven.txt")
    direct = distance_matrix(one)[0]
    due = one.rules.due.copy()
    far = int(np.argmax(np.modf(direct * STEPS)[0]))
    assert np.modf(direct[far] * STEPS)[0] > 0.01
    due[far] = direct[far]
    made = model_of_file(attrs.evolve(one, rules=attrs.evolve(one.rules, due=due, ready=0 * due)))
    assert made.times[far - 1, 1] == made.durations[0, far]


def test_loads_stay_in_the_integers_of_the_solver(tmp_path):
    """A capacity that means none, and demands of 0."""
    pytest.importorskip("pyvrp")
    one = windows(tmp_path, horizon=99.0, demand=[0, 0, 0, 0], capacity=999_999_999)
    found = of_file(one).model().solve(Settings(iterations=50, restarts=1, seconds=5))
    assert of_file(one).fault(found.actions) == ""


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
    # Also where a network gets more time, because the straight line takes longer.
    weights = np.ones_like(distance_matrix(one), dtype=np.int64)
    listed = attrs.evolve(one, distance_rule="EXPLICIT", weights=weights)
    early = [attrs.evolve(one.rules, due=np.full(len(weights), most)) for most in (3.0, 4.0)]
    assert len({of_file(attrs.evolve(listed, rules=rules)).key for rules in early}) == 2
    assert of_file(one).key == of_file(read_file(FIXTURES / "seven.txt")).key
