"""The weights that come with the package: one trained solver for a problem, with its model card.

``weights/<problem>/`` holds ``parameters.safetensors`` and ``card.json``. The card says how the
solver was made: solver, options, method, seed, tasks, costs, and the SHA-256 of the parameters.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import safetensors.torch

from lifelong_co import registry
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.protocols import Solver
from lifelong_co.storage.files import write_whole

FOLDER = Path(__file__).parent / "weights"
PARAMETERS, CARD = "parameters.safetensors", "card.json"


@attrs.frozen(eq=False)
class Shipped:
    """A solver with shipped weights."""

    solver: Solver
    """In evaluation mode."""
    card: Mapping[str, Any]
    """See `write`."""

    @property
    def largest(self) -> int:
        """The largest size that it has learned."""
        return max(int(task["size"]) for task in self.card["tasks"])


def problems(folder: Path = FOLDER) -> list[str]:
    """Return the problems for which there are weights."""
    return sorted(card.parent.name for card in folder.glob(f"*/{CARD}"))


def load(problem: str, *, device: str = "cpu", folder: Path = FOLDER) -> Shipped:
    """Return the shipped solver of a problem.

    Raises
    ------
    ConfigError
        If no weights are shipped for it.
    CheckpointError
        If the files are damaged.
    """
    if problem not in problems(folder):
        known = ", ".join(problems(folder)) or "none"
        raise ConfigError(
            f"no weights are shipped for {problem} (shipped: {known}); give a run folder,"
            " which `lifelong-co run` or `lifelong-co import-checkpoint` makes"
        )
    place = folder / problem
    try:
        card = json.loads((place / CARD).read_text(encoding="utf-8"))
        content = (place / PARAMETERS).read_bytes()
        if hashlib.sha256(content).hexdigest() != card["sha256"]:
            raise CheckpointError(f"{place / PARAMETERS}: expected the hash in {CARD}, got another")
        solver = registry.solver(card["solver"], problem, **card["solver_options"])
        solver.module.load_state_dict(safetensors.torch.load(content))
    except (OSError, LookupError, TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{place}: the shipped weights are damaged ({error})") from error
    solver.module.to(device).eval()
    return Shipped(solver, card)


def write(solver: Solver, card: Mapping[str, Any], folder: Path = FOLDER) -> Path:
    """Write the weights of a solver and its card; return their folder.

    Parameters
    ----------
    solver
        The trained solver.
    card
        JSON values: ``solver``, ``solver_options``, ``tasks`` (each with ``size``) and whatever
        else describes the weights. ``problem`` and ``sha256`` are added.
    folder
        The folder of all weights.
    """
    place = folder / solver.problem.name
    place.mkdir(parents=True, exist_ok=True)
    parameters = solver.module.state_dict()
    content = safetensors.torch.save({key: p.cpu().contiguous() for key, p in parameters.items()})
    whole = {
        "problem": solver.problem.name,
        **card,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    write_whole(place / PARAMETERS, content)
    write_whole(place / CARD, json.dumps(whole, indent=1) + "\n")
    return place
