"""Draws what is in a buffer."""

from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.experiments.paper.buffer_contents import Contents, papers_units
from lifelong_co.experiments.paper.contents import Picture


def buffer_pictures(found: Contents, solver: str, who: str) -> list[Picture]:
    """Return the units by task and the two measures of confidence; ``who`` names the run."""
    key = f"{found.run.config.problem}-{solver}"
    return [
        Picture(
            f"buffer-{key}",
            f"Units in the buffer by task: {who}."
            + (" Diamonds: the paper's shares." if papers_units(found.run) else ""),
            _bars(found),
        ),
        Picture(
            f"confidence-{key}",
            f"Two measures of confidence over the buffered states: {who}; correlation"
            f" {found.correlation:.3f}.",
            _scatter(found),
        ),
    ]


def _bars(found: Contents) -> bytes:
    figure = panels.empty_figure(4.2, 2.8)
    axes = figure.add_subplot()
    names, counts = list(found.units), list(found.units.values())
    bars = axes.bar(range(len(names)), counts, color=panels.COLORS[0], width=0.7)
    axes.bar_label(bars, fontsize=9)
    papers = papers_units(found.run)
    if papers:
        share = sum(counts) / sum(papers.values())
        axes.plot(range(len(names)), [papers.get(name, 0) * share for name in names], "D",
                  color=panels.COLORS[1], markersize=5)  # fmt: skip
    axes.set_xticks(range(len(names)), [panels.plain(name) for name in names], fontsize=9)
    axes.set_ylabel("units", fontsize=9)
    axes.margins(y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    return figures.png(figure)


def _scatter(found: Contents) -> bytes:
    figure = panels.empty_figure(4.2, 3.2)
    axes = figure.add_subplot()
    axes.scatter(found.variance.numpy(), found.negative_entropy.numpy(), s=5, alpha=0.25,
                 color=panels.COLORS[0], linewidths=0)  # fmt: skip
    axes.set_xlabel("variance over the greatest possible", fontsize=9)
    axes.set_ylabel("1 − entropy over the greatest possible", fontsize=9)
    axes.set_title(f"correlation {found.correlation:.3f}", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    return figures.png(figure)
