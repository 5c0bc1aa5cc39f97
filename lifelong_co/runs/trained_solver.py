"""Loading the solver that a run has trained."""

import hashlib
import json
import warnings
from numbers import Integral
from pathlib import Path

import torch

from lifelong_co import registry
from lifelong_co.errors import CheckpointError, ConfigError, naming
from lifelong_co.protocols import Solver
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint
from lifelong_co.storage.checkpoint import CheckpointWarning
from lifelong_co.storage.tree import Tree, flatten, octets
from lifelong_co.tensors.modules import require_single


def load_solver(folder: Path, *, after: int | None = None, device: str = "cpu") -> Solver:
    """Return the solver of a run, in evaluation mode.

    Parameters
    ----------
    folder
        A run folder.
    after
        The number of learned tasks, from 1; None: the parameters of the latest checkpoint.
    device
        The device of the solver.

    Raises
    ------
    ConfigError
        If this is not a run folder, or the run has fewer than ``after`` tasks.
    ComponentError
        If parameters of the solver are not in single precision.
    CheckpointError
        If there is no complete checkpoint, or it does not fit the configuration.

    Warns
    -----
    CheckpointWarning
        If a newer checkpoint is damaged or missing.
    """
    return load_solver_and_path(folder, after=after, device=device)[0]


def load_solver_and_path(
    folder: Path, *, after: int | None = None, device: str = "cpu"
) -> tuple[Solver, Path]:
    """Return the solver of a run, as `load_solver`, and the checkpoint that it comes from."""
    run = RunFolder(folder)
    config = run.config()
    k = len(config.tasks)
    whole = isinstance(after, Integral) and not isinstance(after, bool)  # NumPy's, too
    if after is not None and (not whole or not 1 <= after <= k):
        raise ConfigError(f"{folder}: tasks learned: expected 1 to {k}, got {after!r}")
    place = run.checkpoints if after is None else run.after_task(after)
    found = checkpoint.latest(place)
    if found is None:
        wanted = "its first epoch" if after is None else f"{after} tasks"
        raise CheckpointError(
            f"{place}: expected a checkpoint, found none; has the run finished {wanted}?"
        )
    if after is None:
        _warn_of_older(run, *found)
    # Their first parameters, which are replaced, come from the global random stream: restore it.
    with naming(folder / "config.toml"), torch.random.fork_rng(devices=[]), torch.device("cpu"):
        solver = registry.solver(config.solver, config.problem, **config.solver_options)
    require_single(config.solver, solver.module)
    try:
        solver.module.load_state_dict(found[1]["parameters"])
    except checkpoint.MALFORMED as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"{found[0]}: does not fit {folder / 'config.toml'} ({reason:.200})"
        ) from error
    solver.module.to(device).eval()
    return solver, found[0]


def _warn_of_older(run: RunFolder, path: Path, state: Tree) -> None:
    """Warn if the log of a run has a later epoch, or iteration, than its latest checkpoint."""
    try:
        last = json.loads((run.path / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        if "iteration" in last:  # a pretraining
            older = last["iteration"] > state["iteration"]
        else:
            older = (last["learning"], last["epoch"]) > (state["task"] + 1, state["epoch"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return  # an import has no log, and a damaged log says nothing about the checkpoint
    if older:
        warnings.warn(
            f"{path}: log.jsonl goes on after this checkpoint, so the newest one is missing or"
            " was not finished; using this older one",
            CheckpointWarning,
            stacklevel=4,
        )


def fingerprint(folder: Path, solver: Solver) -> str:
    """Return the SHA-256 hash of a solver's name, options and parameters, 64 hexadecimal digits.

    It does not depend on where the run folder is or on anything else in the checkpoint. It changes
    when the solver learns more.
    """
    config = RunFolder(folder).config()
    skeleton, tensors = flatten(dict(solver.module.state_dict()))
    shapes = [[str(tensor.dtype), list(tensor.shape)] for tensor in tensors]
    named = [config.solver, config.problem, dict(config.solver_options), skeleton, shapes]
    digest = hashlib.sha256(json.dumps(named, sort_keys=True, default=str).encode())
    for tensor in tensors:
        digest.update(octets(tensor).numpy().tobytes())
    return digest.hexdigest()
