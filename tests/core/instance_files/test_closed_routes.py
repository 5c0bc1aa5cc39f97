"""A file's cost is the length of closed routes: a problem with another cost is refused."""

import pytest
from file_strategies import file_instances
from hypothesis import given, settings
from paths import FIXTURES

from lifelong_co import registry
from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.closed_routes import refuse_other_costs
from lifelong_co.instance_files.formats import read_file
from lifelong_co.problems.tsp import TSP


class OpenTSP:
    """A tour without the way back."""

    def __getattr__(self, member):
        return getattr(TSP(), member)

    def cost(self, instances, actions):
        """Return the length without the last leg."""
        way_back = actions[..., [0, -1]]
        return TSP().cost(instances, actions) - TSP().cost(instances, way_back) / 2


def test_open_tours_are_refused():
    """The message names the file and the problem."""
    with pytest.raises(ConfigError, match=r"five: .* closed routes.* got tsp, "):
        refuse_other_costs(read_file(FIXTURES / "five.tsp"), OpenTSP())


@settings(deadline=None, max_examples=40)
@given(file_instances())
def test_tours_and_routes_are_not(instance):
    """Whatever the rule of distances, and wherever the nodes lie."""
    refuse_other_costs(instance, registry.problem(instance.problem))


@pytest.mark.parametrize("name", ["four.atsp", "seven.txt", "four.vrp"])
def test_other_files_are_not(name):
    """Distances that a file lists, time windows, capacities."""
    instance = read_file(FIXTURES / name)
    refuse_other_costs(instance, registry.problem(instance.problem))
