"""What belongs together in a preset: sizes, budgets, models, settings and options of methods."""

from collections.abc import Sequence
from typing import Any

import attrs

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.problems.images import IMAGES
from lifelong_co.storage.toml import structure
from lifelong_co.tasks.orders import Part
from lifelong_co.tasks.task import Task

Options = dict[str, Any]


@attrs.frozen
class Scale:
    """Size and budget of the tasks that have one of the paper's three problem sizes."""

    size: int
    """Number of nodes ``n``."""
    batches: int
    """Batches per epoch."""
    batch_size: int
    """Instances per batch."""
    last_batch_size: int | None = None
    """Instances of the last batch of an epoch; None: ``batch_size``."""


@attrs.frozen(kw_only=True)
class Preset:
    """Sizes, budgets, models, settings and method options that belong together."""

    name: str
    summary: str
    solver: str = "pomo"
    """The solver of a run that does not name one."""
    problem: str = "cvrp"
    """The problem of a run that does not name one."""
    method: str = "llr-bc"
    """The method of a run that does not name one."""
    scales: dict[str, Scale]
    """Distribution to scale."""
    epochs: int
    """Epochs of each task."""
    tests: int
    """Test instances of each task."""
    curve_every: int
    """Epochs between two points of the forgetting curve."""
    solver_options: dict[str, Options]
    """Solver to its options."""
    method_options: dict[str, Options]
    """Method to its options."""
    order: tuple[str, ...] = ()
    """The distributions to learn, in this order, when the user gives no order."""
    epochs_of: dict[str, int] = attrs.field(factory=dict)
    """Solver to epochs of each task, if they differ from `epochs`."""
    settings: Options = attrs.field(factory=dict)
    """Settings of `config.Config` that differ from its defaults."""
    settings_of: dict[str, Options] = attrs.field(factory=dict)
    """Name of a problem, solver or method to settings that it needs instead."""
    needs_start: tuple[str, ...] = ()
    """The solvers that start with the parameters of another run (``start_from``)."""
    counts_images: bool = False
    """Whether `Scale.batch_size` counts images if a run trains on images, as in INViT's code."""

    def settings_for(self, problem: str, solver: str, method: str) -> Options:
        """Return the settings of a run; those of its method count most, then its solver's."""
        found = dict(self.settings)
        for name in (problem, solver, method):
            found |= self.settings_of.get(name, {})
        return found

    def tasks(self, parts: Sequence[Part], solver: str, images: bool = False) -> tuple[Task, ...]:
        """Return one task for each part of an order, at this preset's scales.

        Parameters
        ----------
        parts
            Distributions, or tables with fields of `Task`; the scale of the distribution gives the
            fields that a table lacks.
        solver
            Its name.
        images
            Whether the run trains on the images of each instance.

        Raises
        ------
        UnknownNameError
            If the preset has no scale for a distribution whose table lacks a field of it.
        ConfigError
            If a table lacks another field that no scale gives, or has an unknown or invalid one.
        """
        each = IMAGES if images and self.counts_images else 1
        tasks = []
        for number, part in enumerate(parts, start=1):
            given = {"distribution": part} if isinstance(part, str) else dict(part)
            name = str(given.get("distribution", ""))
            budget: dict[str, Any] = {"epochs": self.epochs_of.get(solver, self.epochs)}
            if name in self.scales:
                scale = self.scales[name]
                last = scale.last_batch_size and scale.last_batch_size // each
                batch = {"batch_size": scale.batch_size // each, "last_batch_size": last}
                budget |= {"size": scale.size, "batches": scale.batches, **batch}
            else:
                self._require_whole(given, f"order, task {number}")
            tasks.append(structure({**budget, **given}, Task, f"order, task {number}"))
        return tuple(tasks)

    def _require_whole(self, given: Options, place: str) -> None:
        """Raise an error if a table of an order lacks what no scale gives."""
        name, files = given.get("distribution", ""), given.get("files")
        if not name and not files:
            raise ConfigError(f"{place}: expected a distribution, or files, got neither")
        needed = ("batches", "batch_size") if files else ("size", "batches", "batch_size")
        missing = ", ".join(field for field in needed if field not in given)
        if missing and files:
            raise ConfigError(
                f"{place}: expected {missing}; preset {self.name!r} has none for files"
            )
        if missing:
            kind = f"distribution of preset {self.name!r}"
            raise UnknownNameError(kind, str(name), self.scales, f"Or give {missing}, too.")
