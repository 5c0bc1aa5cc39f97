"""The vertical range of a panel."""

import pytest

from lifelong_co.experiments.comparison import panels
from lifelong_co.experiments.comparison.comparison import Comparison


@pytest.mark.parametrize("title", ["cost", "cost, mean over all that was learned"])
@pytest.mark.parametrize(("extreme", "cut"), [(30.0, True), (11.0, False)])
def test_a_few_extreme_tests_do_not_flatten_a_panel(
    comparison: Comparison, extreme: float, cut: bool, title: str
) -> None:
    """A single test far above all others leaves the frame, and the panel says so.

    Beside a long title the text has no room.
    """
    axes = panels.figure(4, 3, comparison.groups).add_subplot()
    points = [(0.0, extreme), *((float(x), 10 + x % 2) for x in range(1, 30))]
    panels.lines(axes, comparison, comparison.groups[0], [[points]])
    panels.finish(axes, title, "epoch")
    assert (axes.get_ylim()[1] < extreme) == cut
    assert axes.get_ylim()[1] > 11
    below = [text.get_text() for text in axes.texts]
    said = f"values up to {extreme:g} cut off"
    assert axes.get_title("right") == said * (cut and title == "cost")
    assert below == [said] * (cut and title != "cost")


def test_the_range_over_seeds_has_room_below_and_is_said_to_be_cut_above(
    comparison: Comparison,
) -> None:
    """The lowest seed is in the frame; the highest one may leave it."""
    axes = panels.figure(4, 3, comparison.groups).add_subplot()
    seeds = [[(float(x), 10 + x % 2 + off) for x in range(30)] for off in (-4.0, 0.0, 4.0)]
    panels.lines(axes, comparison, comparison.groups[0], [seeds])
    panels.finish(axes, "cost", "epoch")
    low, high = axes.get_ylim()
    assert low < 6
    assert high < 15
    assert axes.get_title("right") == "values up to 15 cut off"


def test_costs_before_a_task_may_be_cut_off_and_are_said_to_be(comparison: Comparison) -> None:
    """Only the values from a place on make the range."""
    axes = panels.figure(4, 3, comparison.groups).add_subplot()
    points = [(float(x), 9.0 if x < 10 else 5.0) for x in range(30)]
    panels.lines(axes, comparison, comparison.groups[0], [[points]])
    panels.finish(axes, "cost", "epoch", since=10)
    assert axes.get_ylim()[1] < 9
    assert axes.get_title("right") == "values up to 9 cut off"
