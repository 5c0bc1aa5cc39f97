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
    assert axes.get_title("right") == panels.CUT * (cut and title == "cost")
    assert below == [panels.CUT] * (cut and title != "cost")
