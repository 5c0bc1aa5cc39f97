"""The vertical range of a panel."""

import attrs
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
    axes = panels.figure(4, 3, comparison).add_subplot()
    points = [(0.0, extreme), *((float(x), 10 + x % 2) for x in range(1, 30))]
    panels.lines(axes, comparison, comparison.groups[0], [[points]])
    panels.finish(axes, title, "epoch")
    assert (axes.get_ylim()[1] < extreme) == cut
    assert axes.get_ylim()[1] > 11
    below = [text.get_text() for text in axes.texts]
    said = f"values up to {extreme:g} cut off"
    assert axes.get_title("right") == said * (cut and title == "cost")
    assert below == [said] * (cut and title != "cost")
    for text in axes.texts:  # the curve ends below it
        low, high = axes.get_ylim()
        assert (11 - low) / (high - low) < text.get_position()[1] - 0.06


def test_the_range_over_seeds_has_room_below_and_is_said_to_be_cut_above(
    comparison: Comparison,
) -> None:
    """The lowest seed is in the frame; the highest one may leave it."""
    axes = panels.figure(4, 3, comparison).add_subplot()
    seeds = [[(float(x), 10 + x % 2 + off) for x in range(30)] for off in (-4.0, 0.0, 4.0)]
    panels.lines(axes, comparison, comparison.groups[0], [seeds])
    panels.finish(axes, "cost", "epoch")
    low, high = axes.get_ylim()
    assert low < 6
    assert high < 15
    assert axes.get_title("right") == "values up to 15 cut off"


def test_costs_before_a_task_may_be_cut_off_and_are_said_to_be(comparison: Comparison) -> None:
    """Only the values from a place on make the upper end of the range."""
    axes = panels.figure(4, 3, comparison).add_subplot()
    points = [(float(x), 9.0 if x < 10 else 5.0) for x in range(30)]
    panels.lines(axes, comparison, comparison.groups[0], [[points]])
    panels.finish(axes, "cost", "epoch", since=10)
    assert axes.get_ylim()[1] < 9
    assert axes.get_title("right") == "values up to 9 cut off"


def test_a_low_cost_before_a_task_is_in_the_frame(comparison: Comparison) -> None:
    """It can be d*."""
    axes = panels.figure(4, 3, comparison).add_subplot()
    points = [(float(x), 3.0 if x < 10 else 5.0) for x in range(30)]
    panels.lines(axes, comparison, comparison.groups[0], [[points]])
    panels.finish(axes, "cost", "epoch", since=10)
    assert axes.get_ylim()[0] < 3


@pytest.mark.parametrize(
    ("width", "shown"), [(9, "+ orders in May"), (1.5, "+ orders …"), (0.8, "#3")]
)
def test_a_name_without_room_is_no_bare_number(
    comparison: Comparison, width: float, shown: str
) -> None:
    """It would look like a cost."""
    run = comparison.runs[0]
    last = attrs.evolve(run.config.tasks[-1], name="orders in May")
    tasks = (*run.config.tasks[:-1], last)
    axes = panels.figure(width, 3, comparison).add_subplot()
    panels.tasks(axes, attrs.evolve(run, config=attrs.evolve(run.config, tasks=tasks)))
    texts = [text.get_text() for text in axes.texts]
    assert texts[-1] == shown


def test_a_method_has_the_same_color_in_a_picture_of_fewer_methods(comparison: Comparison) -> None:
    """If the comparison says which others there are."""
    group = comparison.groups[0]
    alone = attrs.evolve(comparison, groups=(group,), styles=("other", group.label))
    axes = panels.figure(4, 3, alone).add_subplot()
    panels.lines(axes, alone, group, [[[(0.0, 1.0), (1.0, 2.0)]]])
    (line,) = axes.lines
    (handle,) = axes.figure.legends[0].get_lines()
    assert line.get_color() == handle.get_color() == panels.COLORS[1]


def test_a_long_title_ends_with_an_ellipsis() -> None:
    """It would lie over the next panel."""
    _, axes = panels.small(3.0, "a task with a name of sixty letters " * 2)
    assert axes.get_title("left").endswith("…")
    assert len(axes.get_title("left")) < 60
    learned = "Gap to d*, mean over the tasks learned so far"
    assert panels.small(3.0, learned)[1].get_title("left") == learned
    assert panels.fitted("C100", 0.5) == "C100"
