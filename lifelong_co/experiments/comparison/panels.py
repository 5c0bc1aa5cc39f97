"""Functions that all figures use: colors, lines with bands, marks of tasks, limits and titles."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lifelong_co.experiments.comparison.comparison import Comparison, Group
from lifelong_co.experiments.comparison.curves import Point, bands, boundaries
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.comparison.selection import MARKS, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes as _Axes
    from matplotlib.figure import Figure

    Axes: TypeAlias = _Axes
else:
    Axes = Any

# Okabe and Ito, "Color Universal Design" (2008), without the yellow: it is too pale on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#333333"
SOFT = "#666666"
PALE = "#bbbbbb"
LEGEND = 0.35
"""Height of a row of the legend, in inches."""
NARROW = 4.2
"""Width of a figure that fits the screen of a phone, in inches."""
LETTER = 0.07
"""Width of a letter of 8 points, in inches, rounded up."""
MEAN_LETTER = 0.055
"""Mean width of a letter of 8 points in lower case, in inches."""


def empty_figure(width: float, height: float, dpi: int = 150) -> "Figure":
    """Return an empty figure of ``width`` x ``height`` inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), dpi=dpi)
    made.set_layout_engine("constrained", w_pad=0.09, h_pad=0.07, wspace=0.03)
    FigureCanvasAgg(made)
    return made


def small(height: float, title: str = "", x: str = "", y: str = "") -> "tuple[Figure, Axes]":
    """Return an empty figure as wide as a phone, and its only panel."""
    made = empty_figure(NARROW, height)
    axes = made.add_subplot()
    dress(axes, title, x, y)
    return made, axes


def dress(axes: Axes, title: str = "", x: str = "", y: str = "") -> None:
    """Write the title and the names of the axes, and remove the top and right lines."""
    room = axes.bbox.width / axes.figure.dpi
    axes.set_title(plain(fitted(title, room, 10)), loc="left", fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def figure(width: float, height: float, comparison: Comparison) -> "Figure":
    """Return an empty figure of ``width`` x ``height`` inches with a legend above all panels."""
    from matplotlib.lines import Line2D

    groups = comparison.groups
    longest = max(len(group.label) for group in groups) + 8
    columns = max(1, min(len(groups), int(width / (1.3 * LETTER * longest))))
    rows = -(-len(groups) // columns)
    made = empty_figure(width, height + LEGEND * rows)
    handles = [
        Line2D([], [], label=plain(one.label), **_style(comparison.style(one)), lw=2, markersize=5)
        for one in groups
    ]
    made.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False)
    return made


def tasks(axes: Axes, run: FinishedRun, only: int | None = None) -> None:
    """Mark where tasks begin and name them, or shade the epochs of task ``only``.

    If there are many tasks, some of them are marked. Where a name has no room, ``#3`` stands for
    that of the third task.
    """
    ends = boundaries(run)
    marked = shown(len(run.names), MARKS)
    first = 1 if only is None and len(run.names) > 1 else 0
    axes.set_xlim(ends[first], ends[-1])
    for i in marked[first + 1 :]:
        axes.axvline(ends[i], color=PALE, linewidth=0.8, zorder=0)
    if only is not None:
        axes.axvspan(ends[only - 1], ends[only], color="#f0f0f0", zorder=0, linewidth=0)
        return
    room = axes.bbox.width / axes.figure.dpi / (ends[-1] - ends[first])
    for i in marked[first:]:
        name = f"+ {run.names[i]}" if i > 1 else " + ".join(run.names[: i + 1])
        width = room * (ends[i + 1] - ends[i])
        if len(name) * LETTER >= width:  # a number alone could be taken for a cost
            name = fitted(name, width) if width > 6 * LETTER else f"#{i + 1}"
        axes.annotate(
            plain(name),
            ((ends[i] + ends[i + 1]) / 2, 0.985),
            xycoords=("data", "axes fraction"),
            ha="center", va="top", fontsize=8, color=SOFT,
        )  # fmt: skip


def lines(
    axes: Axes,
    comparison: Comparison,
    group: Group,
    segments: Sequence[Sequence[Sequence[Point]]],
    scale: float = 1.0,
    *,
    faint: bool = False,
) -> None:
    """Draw the segments ``[segment][seed][point]`` of a group: mean line and range over seeds."""
    style = _style(comparison.style(group))
    for segment in segments:
        band = bands(segment)
        if not band:  # nothing was measured here
            continue
        x = [point.x for point in band]
        axes.plot(
            x,
            [point.mean * scale for point in band],
            **(style | {"linestyle": ":"} if faint else style),
            linewidth=1.0 if faint else 1.7,
            markersize=2.5 if faint else 3.0,
            alpha=0.6 if faint else 1.0,
        )
        if len(segment) > 1 and not faint:
            low, high = [p.low * scale for p in band], [p.high * scale for p in band]
            axes.fill_between(x, low, high, color=style["color"], alpha=0.18, linewidth=0)


def finish(axes: Axes, title: str, x: str, y: str = "", since: float | None = None) -> None:
    """Write the title of a panel and set a vertical range that a few high values cannot stretch.

    The range begins at the lowest value. It ends at the highest value from ``since`` on, or at
    twice the distance of their 90th percentile if that is lower. If any value is cut
    off, a text names the highest: beside the title, or below it if there is no room.
    """
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    curves = [np.asarray(line.get_xydata()) for line in axes.lines if _data(line)]
    ranges = [path.vertices for area in axes.collections for path in area.get_paths()]
    values, every = _since(curves, since), _since([*curves, *ranges], None)
    low = float(every.min())
    high = min(float(values.max()), low + 2 * (float(np.quantile(values, 0.9)) - low))
    # In a range far below one percent of the cost, noise would look like a result.
    high = max(high, low + 0.01 * abs(low), low + 1e-9)
    pad = 0.06 * (high - low)
    # The names of the tasks need room above the curves.
    top = high + (3 * pad if axes.texts else pad)
    highest = float(every.max())
    cut = f"values up to {float(f'{highest:.4g}'):.10g} cut off"
    # The title has 10 points.
    needed = len(title) * LETTER * 10 / 8 + len(cut) * LETTER
    inside = needed > axes.bbox.width / axes.figure.dpi
    if highest > top and inside:
        top += 2 * pad  # no curve below the text
    axes.set_ylim(low - pad, top)
    if highest > top:
        style: dict[str, Any] = {"fontsize": 7, "color": SOFT}
        if inside:
            height = 0.91 if axes.texts else 0.98  # below the names of the tasks
            axes.text(0.98, height, cut, ha="right", va="top", transform=axes.transAxes, **style)
        else:
            axes.set_title(cut, loc="right", **style)
    dress(axes, title, x, y)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.tick_params(labelsize=8, colors=INK)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)


def _since(points: Sequence[Any], since: float | None) -> Any:
    """Return the heights of all points, or of those from a place on."""
    import numpy as np

    every = np.concatenate(points)
    return every[:, 1] if since is None else every[every[:, 0] >= since, 1]


def _data(line: Any) -> bool:
    # The lines at task boundaries are in axes coordinates and have no marker.
    return line.get_marker() not in ("None", "", None)


def fitted(text: str, room: float, points: float = 8) -> str:
    """Return a text that about fits ``room`` inches; a longer one ends with an ellipsis."""
    most = max(4, int(room / (MEAN_LETTER * points / 8)))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plain(text: str) -> str:
    """Return text in which matplotlib does not read dollar signs as mathematics."""
    return text.replace("$", r"\$")


def _style(i: int) -> dict[str, Any]:
    return {
        "color": COLORS[i % len(COLORS)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": DASHES[i // len(COLORS) % len(DASHES)],
    }
