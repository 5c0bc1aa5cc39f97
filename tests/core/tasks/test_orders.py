"""Task orders by name."""

import pytest

import lifelong_co as lco
from lifelong_co.errors import UnknownNameError
from lifelong_co.tasks.orders import named_order

pytestmark = pytest.mark.usefixtures("fresh_registry")


def test_numbers_are_the_orders_of_the_paper():
    """For every problem, as a number or as text."""
    assert named_order("1", "tsp") == named_order(1, "sailing") == ("E", "C", "G", "U", "R", "GM")
    with pytest.raises(UnknownNameError, match="Unknown task order '9'"):
        named_order("9", "tsp")


def test_names_are_the_orders_of_the_problem(plugin):
    """A plugin registers them; another problem lacks them."""
    tables = [{"distribution": "U"}, {"distribution": "U", "attributes": ["storm"]}]
    lco.register_plugin(plugin("register_orders", "sailing:storms", tables))
    assert named_order("storms", "sailing") == tuple(tables)
    with pytest.raises(UnknownNameError, match=r"problem 'sailing' 'storm'; .*5, storms.*Did you"):
        named_order("storm", "sailing")
    with pytest.raises(UnknownNameError, match="order of problem 'tsp' 'storms'"):
        named_order("storms", "tsp")
