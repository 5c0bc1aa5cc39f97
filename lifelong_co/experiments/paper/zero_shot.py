"""Solvers that are tested without learning a task, such as the paper's INViT (appendix D.3).

The folder of an imported checkpoint (``lifelong-co import-checkpoint``) or of a pretraining gives
the solver; a run gives the tests.
"""

from pathlib import Path

import attrs
from torch import Tensor

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.comparison.instance_gaps import instance_costs
from lifelong_co.runs.folder import STARTS, RunFolder
from lifelong_co.runs.trained_solver import load_solver


@attrs.frozen
class Start:
    """A folder with parameters that no lifelong run has learned."""

    path: Path
    config: Config

    @property
    def title(self) -> str:
        """The name of its row."""
        images = ", 8 images" if self.config.augment else ""
        return f"{self.config.solver} zero-shot{images}"

    def costs(self, run: Config, device: str) -> dict[str, Tensor]:
        """Return the cost of each test instance of a run, ``[B]``, by task.

        Whether the symmetric images of an instance are solved, too, and which, are settings of the
        start.

        Raises
        ------
        LifelongError
            If the solver cannot be built or has no checkpoint, or a task's files are missing.
        """
        solver = load_solver(self.path, device=device)
        own = self.config
        tests = attrs.evolve(run, augment=own.augment, symmetries=own.symmetries)
        return {
            task.label: instance_costs(solver, tests, index) for index, task in enumerate(run.tasks)
        }


def read_start(folder: Path) -> Start | None:
    """Return the start in a folder; None if the folder holds something else.

    Raises
    ------
    ConfigError
        If the configuration in the folder has errors.
    """
    config = RunFolder(folder).config() if (folder / "config.toml").is_file() else None
    return Start(folder, config) if config is not None and config.method in STARTS else None
