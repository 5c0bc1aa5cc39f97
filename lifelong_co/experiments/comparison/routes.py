"""A picture of one solution: the depot, the nodes and one color for each route."""

import colorsys
import os
from collections.abc import Sequence

import numpy as np

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.instance_files.file_instance import Actions, FileInstance
from lifelong_co.instance_files.solutions import check
from lifelong_co.storage.files import write_new

_TURN = 0.618034  # golden section: neighboring routes get very different hues


def heading(file_instance: FileInstance, cost: float) -> str:
    """Return name, cost and, if a best known cost is given, the gap to it in per cent."""
    text = f"{file_instance.name}: cost {cost:,.10g}"
    best = file_instance.best_known
    if not best:
        return text
    gap = 100 * (cost / best - 1)
    side = "below" if gap < 0 else "above"
    return f"{text}, {abs(gap):.2f} % {side} the best known {best:,.10g}"


def plot_routes(
    file_instance: FileInstance,
    actions: Actions,
    path_png: str | os.PathLike[str],
    *,
    overwrite: bool = False,
) -> None:
    """Draw a solution as PNG; the file is written whole or not at all.

    Parameters
    ----------
    file_instance, actions
        The instance and its solution ``[T]``, which is checked first.
    path_png
        The file to write.
    overwrite
        Whether an existing file may be replaced.

    Raises
    ------
    InvalidSolutionError
        If the actions do not solve the instance.
    ConfigError
        If matplotlib is missing, the instance has no coordinates, the file exists and
        ``overwrite`` is false, or it cannot be written.
    """
    if not figures.available():
        raise ConfigError(f"plot: expected matplotlib, which is not installed; {figures.INSTALL}")
    refuse_without_coordinates(file_instance)
    report = check(file_instance, actions)
    figure = panels.empty_figure(*_inches(file_instance), dpi=120)
    axes = figure.add_subplot()
    points = file_instance.coordinates
    depot = file_instance.demand is not None
    for number, route in enumerate(report.routes):
        color = _color(number)
        nodes = points[route if depot else [*route, route[0]]]  # [k, 2]
        axes.plot(*nodes.T, color=color, linewidth=1.6, zorder=2)
        axes.scatter(nodes[:, 0], nodes[:, 1], s=_marker(len(points)), color=color, zorder=3)
        if depot:
            # Thin and dashed: full lines from and to the depot would hide everything near it.
            for end in (nodes[0], nodes[-1]):
                way = np.stack((points[0], end))
                axes.plot(*way.T, color=color, linewidth=0.8, alpha=0.45, linestyle="--", zorder=1)
    if depot:
        x, y = points[0]
        axes.scatter(x, y, s=110, marker="s", color="black", edgecolor="white", zorder=4)
    title = heading(file_instance, report.cost)
    panels.dress(axes, title, _legend(report.routes, depot))
    axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelsize=8, color="0.6", labelcolor="0.4")
    write_new(path_png, figures.png(figure), overwrite=overwrite)


def refuse_without_coordinates(file_instance: FileInstance) -> None:
    """Raise `ConfigError` if the instance cannot be drawn, because its file has only distances."""
    if not file_instance.coordinates.shape[1]:
        raise ConfigError(
            f"plot: expected a file with coordinates, got {file_instance.name} without"
        )


def _color(number: int) -> tuple[float, float, float]:
    """Return the color of a route; every second one is darker."""
    return colorsys.hsv_to_rgb((0.58 + number * _TURN) % 1, 0.8, 0.82 if number % 2 == 0 else 0.58)


def _inches(file_instance: FileInstance) -> tuple[float, float]:
    """Return width and height of the picture in inches, in about the instance's proportions."""
    width, height = np.ptp(file_instance.coordinates, axis=0)
    return 8.0, 0.9 + 7.1 * float(np.clip(height / width if width else 1.0, 0.3, 1.5))


def _marker(count: int) -> float:
    """Return the area of a node's mark in square points, smaller with many nodes."""
    return max(3.0, min(36.0, 4000 / count))


def _legend(routes: Sequence[Sequence[int]], depot: bool) -> str:
    """Return a line that explains the picture."""
    nodes = sum(map(len, routes))
    if not depot:
        return f"one tour through {nodes} nodes"
    return f"{nodes} customers on {len(routes)} routes; square: depot, dashed: to and from it"
