"""The picture of a solution's routes and its title."""

from pathlib import Path

import attrs
import pytest
from paths import FIXTURES

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison.routes import _legend, heading, plot_routes
from lifelong_co.instance_files.file_instance import FileInstance, InvalidSolutionError
from lifelong_co.instance_files.vrplib_instances import read_instance

FOUR = read_instance(FIXTURES / "four.vrp")

FIVE = read_instance(FIXTURES / "five.tsp")

BEST = [0, 1, 2, 0, 3, 4, 0]


@pytest.mark.parametrize(("instance", "actions"), [(FOUR, BEST), (FIVE, [0, 1, 2, 3, 4])])
def test_plot_is_a_png_of_a_useful_size(
    tmp_path: Path, instance: FileInstance, actions: list[int]
) -> None:
    """The name of the instance may contain a dollar sign."""
    path = tmp_path / "routes.png"
    plot_routes(attrs.evolve(instance, name="a$b"), actions, path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    assert width == 960
    assert 300 < height < 1500
    assert list(tmp_path.iterdir()) == [path]


def test_plot_refuses_infeasible_solutions(tmp_path: Path) -> None:
    """An infeasible solution is not drawn."""
    with pytest.raises(InvalidSolutionError):
        plot_routes(FOUR, [0, 1, 0], tmp_path / "routes.png")
    assert not list(tmp_path.iterdir())


def test_title_has_name_cost_and_gap() -> None:
    """The gap is to the best-known cost, if there is one."""
    assert heading(FIVE, 12345) == "five: cost 12,345"
    assert heading(FOUR, 45.15) == "four: cost 45.15, 5.00 % above the best known 43"
    assert heading(FOUR, 40) == "four: cost 40, 6.98 % below the best known 43"


def test_legend_counts_customers_and_routes() -> None:
    """A tour has neither depot nor routes."""
    told = "3 customers on 2 routes; square: depot, dashed: to and from it"
    assert _legend([[1, 2], [3]], depot=True) == told
    assert _legend([[0, 2, 1]], depot=False) == "one tour through 3 nodes"


def test_instance_without_coordinates_is_refused(tmp_path: Path) -> None:
    """A file with distances only cannot be drawn."""
    instance = read_instance(FIXTURES / "four.atsp")
    with pytest.raises(ConfigError, match="expected a file with coordinates, got four without"):
        plot_routes(instance, [0, 1, 2, 3], tmp_path / "x.png")
