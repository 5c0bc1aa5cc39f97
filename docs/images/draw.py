"""Draws the pictures of docs/concepts.md: `python docs/images/draw.py`.

The pictures have no background, and grays and colors of middle brightness, so that they can be read
on light and dark pages. Nodes are drawn from the distributions; probabilities are made up.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from lifelong_co_plugins.weighting.confidence import variance
from matplotlib import pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

import lifelong_co as lco
from lifelong_co.metrics import summarize

HERE = Path(__file__).parent
GRAY, BLUE, ORANGE, GREEN = "#7d8590", "#4c8fbd", "#d98b3a", "#5aa469"
STYLE = {
    "svg.hashsalt": "lifelong-co",  # the same bytes each time
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "text.color": GRAY,
    "axes.edgecolor": GRAY,
    "axes.labelcolor": GRAY,
    "xtick.color": GRAY,
    "ytick.color": GRAY,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def save(figure: Any, name: str) -> None:
    """Write a figure beside this file."""
    figure.savefig(HERE / name, transparent=True, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    """Draw an arrow in the units of the axes."""
    look = {"arrowstyle": "-|>", "mutation_scale": 13, "color": GRAY, "lw": 1.2, **style}
    axes.add_patch(FancyArrowPatch(start, end, clip_on=False, **look))


def empty(axes: Any, width: float, height: float) -> None:
    """Prepare axes without ticks that are measured in units of our choice."""
    axes.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    axes.axis("off")


def tasks() -> None:
    """Draw three tasks, and what is tested after each."""
    figure, panels = plt.subplots(1, 3, figsize=(8.4, 3.3))
    figure.subplots_adjust(wspace=0.45)
    names, colors = ("R", "GM", "G"), (BLUE, ORANGE, GREEN)
    for number, (axes, name, color) in enumerate(zip(panels, names, colors, strict=True), 1):
        drawn = lco.distribution(name, problem="cvrp").sample(
            1, 80, generator=torch.Generator().manual_seed(3)
        )
        axes.scatter(*drawn.nodes[0].T, s=12, color=color, alpha=0.9, lw=0)
        axes.scatter(*drawn.depot[0].T, s=45, marker="s", color=GRAY)
        axes.set(xticks=[], yticks=[], aspect="equal", xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
        for side in axes.spines.values():
            side.set(visible=True, alpha=0.5)
        axes.set_title(f"learn task {number}: {name}", color=color, fontsize=12)
        axes.set_xlabel("then test on all three", labelpad=8)
    for axes in panels[:2]:
        arrow(axes, (1.12, 0.5), (1.42, 0.5))
    save(figure, "tasks.svg")


def experience() -> None:
    """Draw a partial solution, and the probability of each next node."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.3), width_ratios=(1, 1.5))
    nodes = np.array(
        [[1, 2], [2.2, 3.6], [3.8, 3.9], [4.6, 2.6], [4.1, 1.1], [2.9, 2.0], [1.5, 0.9]]
    )
    tour, offered = [0, 1, 2], [3, 4, 5, 6]
    probabilities = [0.0, 0.0, 0.0, 0.46, 0.08, 0.41, 0.05]
    left.plot(*nodes[tour].T, color=GRAY, lw=2)
    for node in offered:
        arrow(
            left,
            tuple(nodes[2]),
            tuple(nodes[node]),
            color=BLUE,
            alpha=0.25 + 1.6 * probabilities[node],
            lw=0.8 + 4 * probabilities[node],
            shrinkB=11,
            shrinkA=11,
        )
    colors = [GRAY if node in tour else BLUE for node in range(len(nodes))]
    left.scatter(*nodes.T, s=330, color=colors, zorder=3)
    for node, place in enumerate(nodes):
        left.text(*place, str(node), ha="center", va="center", color="white", zorder=4)
    left.set(aspect="equal", xlim=(0.3, 5.2), ylim=(0.1, 4.5))
    left.axis("off")
    left.set_title("state: the partial solution 0, 1, 2", fontsize=12)
    right.bar(range(len(nodes)), probabilities, color=BLUE, width=0.6)
    right.set(xticks=range(len(nodes)), xlabel="next node", ylabel="probability", ylim=(0, 0.6))
    for node in tour:
        right.text(node, 0.01, "visited", rotation=90, ha="center", va="bottom", fontsize=9)
    right.set_title("behavior: how likely each next node is", fontsize=12)
    save(figure, "experience.svg")


def box(axes: Any, x: float, y: float, width: float, text: str, color: str = GRAY) -> None:
    """Draw a rounded box of height 2 with text in it."""
    look = {"boxstyle": "round,pad=0.02,rounding_size=0.2", "fc": "none", "ec": color, "lw": 1.4}
    axes.add_patch(FancyBboxPatch((x, y), width, 2, **look))
    axes.text(x + width / 2, y + 1, text, ha="center", va="center", color=color, fontsize=10)


def slots(axes: Any, x: float, y: float, colors: list[str]) -> None:
    """Draw the places of a buffer; the color says which task each experience is from."""
    for place, color in enumerate(colors):
        look = {"fc": color, "ec": "none", "alpha": 0.85}
        axes.add_patch(Rectangle((x + 0.62 * place, y), 0.5, 0.9, **look))


def buffer() -> None:
    """Draw the life of an experience: recorded in the last epoch, replayed in later tasks."""
    figure, axes = plt.subplots(figsize=(8.4, 3.2))
    empty(axes, 21, 7.4)
    box(axes, 0, 4.6, 5.0, "last epoch of task 2:\nevery decoding step\nis offered", ORANGE)
    arrow(axes, (5.2, 5.6), (7.4, 5.6))
    axes.text(6.3, 5.85, r"$|\mathcal{B}|\,/\,N$", ha="center", fontsize=11)
    slots(axes, 7.7, 5.15, [BLUE, ORANGE, BLUE, BLUE, ORANGE, BLUE, ORANGE, ORANGE])
    axes.text(10.1, 6.4, "the buffer, of fixed size", ha="center")
    arrow(axes, (10.1, 4.9), (10.1, 3.5))
    axes.text(10.4, 4.15, "task 3 begins: a snapshot", va="center")
    slots(axes, 7.7, 2.3, [BLUE, ORANGE, BLUE, BLUE, ORANGE, BLUE, ORANGE, ORANGE])
    arrow(axes, (12.9, 2.75), (15.2, 2.75))
    axes.text(14.05, 3.05, "draw", ha="center")
    box(
        axes,
        15.5,
        1.75,
        5.4,
        "every step of task 3:\nthe learner is compared\nwith the drawn ones",
        GREEN,
    )
    for x, color, text in ((7.7, BLUE, "from task 1"), (12.2, ORANGE, "from task 2")):
        axes.add_patch(Rectangle((x, 0.55), 0.5, 0.6, fc=color, alpha=0.85))
        axes.text(x + 0.8, 0.85, text, va="center")
    save(figure, "buffer.svg")


def consolidation() -> None:
    """Draw teacher and learner in a certain and an uncertain state, and what each weighs."""
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.1), sharey=True)
    states = (
        ("a certain state weighs little", [0.94, 0.03, 0.02, 0.01], [0.80, 0.10, 0.05, 0.05]),
        ("an uncertain state weighs much", [0.40, 0.35, 0.15, 0.10], [0.20, 0.60, 0.10, 0.10]),
    )
    places = np.arange(4)
    for axes, (title, teacher, learner) in zip(panels, states, strict=True):
        weight = float(variance(torch.tensor(teacher)))
        p, q = torch.tensor(teacher).log(), torch.tensor(learner).log()
        distance = float(lco.divergence("rkl")(p, q))
        axes.bar(places - 0.2, teacher, 0.38, color=BLUE, label="teacher $P$, buffered")
        axes.bar(places + 0.2, learner, 0.38, color=ORANGE, label=r"learner $P_\theta$, now")
        axes.set(xticks=places, xlabel="next node", ylim=(0, 1.05))
        axes.set_title(title, fontsize=12)
        axes.text(3.4, 0.62, f"$w$ = {weight:.2f}\n$D$ = {distance:.2f}", ha="right", fontsize=12)
    panels[0].set_ylabel("probability")
    panels[1].legend(frameon=False, labelcolor=GRAY, loc="upper right")
    save(figure, "consolidation.svg")


# Mean costs on three tasks (columns) after each task (rows), of the fine-tuning of `make demo`.
COSTS = [[6.2276, 6.2396, 2.2575], [6.4726, 6.2173, 3.2097], [6.3869, 7.1951, 2.0683]]


def metrics() -> None:
    """Draw which entries of the cost matrix each metric reads."""
    figure, panels = plt.subplots(1, 5, figsize=(8.4, 2.5))
    costs = np.array(COSTS)
    gaps = 1000 * (costs / costs.min(axis=0) - 1)
    found = summarize(COSTS)
    read = {
        "AP": ({(2, 0), (2, 1), (2, 2)}, set()),
        "AF": ({(2, 0), (2, 1)}, {(0, 0), (1, 1)}),
        "AMF": ({(1, 0), (2, 0), (2, 1)}, {(0, 0), (1, 1)}),
        "APl": ({(0, 0), (1, 1), (2, 2)}, set()),
        "AG": ({(0, 1), (1, 2)}, set()),
    }
    for axes, (name, (added, subtracted)) in zip(panels, read.items(), strict=True):
        for i in range(3):
            for j in range(3):
                color = BLUE if (i, j) in added else ORANGE if (i, j) in subtracted else "none"
                look = {"fc": color, "ec": GRAY, "lw": 0.8, "alpha": 1 if color != "none" else 0.6}
                axes.add_patch(Rectangle((j, 2 - i), 1, 1, **look))
                ink = GRAY if color == "none" else "white"
                axes.text(
                    j + 0.5, 2.5 - i, f"{gaps[i, j]:.0f}", ha="center", va="center", color=ink
                )
        axes.set(xlim=(-0.05, 3.05), ylim=(-0.05, 3.05), aspect="equal", yticks=[])
        axes.set_xticks([0.5, 1.5, 2.5], ["1", "2", "3"])
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        axes.set_title(f"{name} {1000 * getattr(found, name):.1f}", fontsize=12)
    panels[0].set_yticks([2.5, 1.5, 0.5], ["1", "2", "3"])
    panels[0].set_ylabel("after task")
    panels[2].set_xlabel("tested on task")
    save(figure, "metrics.svg")


if __name__ == "__main__":
    with mpl.rc_context(STYLE):
        for draw in (tasks, experience, buffer, consolidation, metrics):
            draw()
