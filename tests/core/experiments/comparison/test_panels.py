"""The vertical range of a panel."""

import pytest

from lifelong_co.experiments.comparison import panels
from lifelong_co.experiments.comparison.comparison import Comparison


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(("extreme", "cut"), [(30.0, True), (11.0, False)])
def test_a_few_extreme_tests_do_not_flatten_a_panel(
    comparison: Comparison, extreme: float, cut: bool, columns: int
) -> None:
    """A single test far above all others leaves the frame, and the panel says so.

    In a panel of half the width the text has no room beside the title.
    """
    axes = panels.figure(4, 3, comparison.groups).add_subplot(1, columns, 1)
    points = [(0.0, extreme), *((float(x), 10 + x % 2) for x in range(1, 30))]
    panels.lines(axes, comparison, comparison.groups[0], [[points]])
    panels.finish(axes, "title", "epoch")
    assert (axes.get_ylim()[1] < extreme) == cut
    assert axes.get_ylim()[1] > 11
    said = [axes.get_title("right"), *(text.get_text() for text in axes.texts)]
    assert said == ["higher values cut off" * (cut and columns == 1)] + (
        ["higher values cut off"] if cut and columns == 2 else []
    )
