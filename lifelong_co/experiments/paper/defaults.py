"""The default variant of each method: the one nearest to its preset, and where it is not equal."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.errors import LifelongError
from lifelong_co.experiments.paper import naming


def main_variant(variants: Sequence[Sequence[Config]]) -> int:
    """Return the index of a method's default variant; a variant is given by its runs.

    The default has the fewest differences from the preset; of equals it is the one with most runs.
    """

    def merit(configs: Sequence[Config]) -> tuple[int, int]:
        return len(departures(configs[0])), -len(configs)

    # `min` takes the first of equals.
    return min(range(len(variants)), key=lambda i: merit(variants[i]))


def departures(config: Config) -> dict[str, Any]:
    """Return the settings in which a run is not as its preset gives them, except its tasks.

    Empty if there is no such preset, for example because the run was configured in Python.
    """
    return naming.changed(config, _usual(config))


def unlike_preset(mains: Mapping[str, Config]) -> str:
    """Return a sentence about the departures that not all of some runs have; empty without any.

    ``mains`` is by the name of the row.
    """
    found = {
        name: {repr(item) for item in departures(config).items()} for name, config in mains.items()
    }
    parts = [
        f"{name} {naming.variant_name(config, _usual(config))}"
        for name, config in mains.items()
        if not all(found[name] <= other for other in found.values())
    ]
    return f"Not as in the preset: {'; '.join(parts)}." if parts else ""


def _usual(config: Config) -> Config:
    """Return the run as its preset gives it, with the same tasks; itself if there is no preset."""
    try:
        usual = resolve(
            solver=config.solver,
            problem=config.problem,
            method=config.method,
            preset=config.preset,
            seed=config.seed,
            device=config.device,
            fresh=True,
        )
    except LifelongError:  # no such preset, or none of its orders serves the problem
        return config
    tasks = tuple(attrs.evolve(task, drift_from="") for task in config.tasks)
    return attrs.evolve(usual, tasks=tasks, tests=config.tests)
