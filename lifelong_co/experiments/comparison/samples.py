"""Pictures of sample instances of every distribution, as in the paper's figures."""

from pathlib import Path

from lifelong_co import registry
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.seeding import generator
from lifelong_co.storage.files import write_new

SIZES = {"U": 20, "R": 20, "G": 50, "E": 50, "C": 100, "GM": 100}


def plot_samples(path: Path, *, seed: int = 0) -> None:
    """Draw one CVRP and one TSP instance of each of the paper's distributions at its size.

    Parameters
    ----------
    path
        The PNG to write.
    seed
        Seed of the instances.

    Raises
    ------
    ConfigError
        If matplotlib is not installed, the file exists, or it cannot be written.
    """
    if not figures.available():
        raise ConfigError(f"drawing needs matplotlib: {figures.INSTALL}")

    drawing = panels.empty_figure(2.6 * len(SIZES), 5.6)
    axes = drawing.subplots(2, len(SIZES))
    for column, (name, size) in enumerate(SIZES.items()):
        stream = generator(seed, f"sample {name}")
        cvrp = registry.distribution(name, "cvrp").sample(1, size, generator=stream)
        tsp = registry.distribution(name, "tsp").sample(1, size, generator=stream)
        upper, lower = axes[0, column], axes[1, column]
        demand = cvrp.demand[0] * {20: 30, 50: 40, 100: 50}[size]
        points = upper.scatter(*cvrp.nodes[0].T, c=demand, cmap="viridis", vmin=0, vmax=10, s=16)
        upper.scatter(*cvrp.depot[0].T, c="#d62728", marker="s", s=36, label="depot")
        lower.scatter(*tsp.nodes[0].T, c="#1f77b4", s=16)
        upper.set_title(f"{name} ({size} nodes)")
        for one in (upper, lower):
            one.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xticks=[], yticks=[])
    axes[0, 0].set_ylabel("CVRP (red: depot)")
    axes[1, 0].set_ylabel("TSP")
    drawing.colorbar(points, ax=axes[0, :], label="demand", shrink=0.9)
    write_new(path, figures.png(drawing))
