"""The paper's task orders, and task orders by name."""

import pytest

import lifelong_co as lco
from lifelong_co.errors import UnknownNameError
from lifelong_co.tasks.orders import ORDERS, named_order, paper_order

pytestmark = pytest.mark.usefixtures("fresh_registry")

DISTRIBUTIONS = {"U", "GM", "E", "C", "G", "R"}


@pytest.mark.parametrize(
    ("number", "sequence"),
    [
        (1, "E C G U R GM"),
        (2, "U GM E R G C"),
        (3, "E G R C U GM"),
        (4, "G GM E U R C"),
        (5, "G C R U GM E"),
    ],
)
def test_orders_are_those_of_the_paper(number: int, sequence: str) -> None:
    """There are five orders of all six distributions (appendix "Task Orders")."""
    assert paper_order(number) == tuple(sequence.split())
    assert set(paper_order(number)) == DISTRIBUTIONS
    assert sorted(ORDERS) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("number", [0, 6, -1])
def test_unknown_order_is_refused(number: int) -> None:
    """The error lists the known orders."""
    with pytest.raises(lco.UnknownNameError, match=f"order '{number}'; expected one of: 1, 2, 3,"):
        paper_order(number)


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
