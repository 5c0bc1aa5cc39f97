"""Checkpoints of the official codebases, and parameters saved alone: making run folders of them."""

import hashlib
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import safetensors.torch
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.resolve import resolve
from lifelong_co.errors import CheckpointError, LifelongError
from lifelong_co.runs import provenance
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.plugins_used import plugins_used
from lifelong_co.runs.workplace import at_work
from lifelong_co.storage import checkpoint

METHOD = "import-checkpoint"
"""The ``method`` of a run folder that holds imported parameters."""

# Keys under which the codebases save the trained parameters; the first one found is used.
KEYS = {
    "model_state_dict": "POMO, Omni-VRP, LLR-BC: `model_state_dict`",
    # Beside it INViT saves `model_baseline`, the greedy rollout baseline it was trained against.
    "model_train": "INViT: `model_train`",
}
# LLR-BC trains on several GPUs with DataParallel, which puts this before every name.
PARALLEL = "module."
# How torch's error names a function that it refuses to call.
NAMED = re.compile(r"GLOBAL ([\w.]+)")


class _Unused:
    """Stands for an object in a checkpoint that is not used; only its attributes are set."""


# LLR-BC saves its buffers, which hold states of the official environments. Reading these names
# makes empty objects of ours, and runs nothing of the official code.
UNUSED: list[Any] = [
    (_Unused, f"{module}.{state}")
    for module in ("CVRPEnv", "TSPEnv")
    for state in ("Reset_State", "Step_State")
]


@attrs.frozen
class Imported:
    """The trained parameters in a file."""

    parameters: dict[str, Tensor]
    """By the names in the file, on the CPU."""
    part: str
    """The key of the parameters in the file; empty for a bare state dict."""


def read(file: Path) -> Imported:
    """Read the trained parameters of a checkpoint without executing anything in it.

    Parameters
    ----------
    file
        A checkpoint of POMO, Omni-VRP, LLR-BC or INViT, or a bare state dict, saved with
        `torch.save`, or as ``.safetensors``.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, if it holds other things than tensors and plain values,
        if there are no parameters under any of the expected keys, or if one is not finite.
    """
    content = _load(file)
    if not isinstance(content, Mapping):
        raise CheckpointError(f"{file}: expected a dict, got {type(content).__name__}")
    part = next((key for key in KEYS if key in content), "")
    parameters = content[part] if part else content
    if not parameters or not isinstance(parameters, Mapping) or not _all_tensors(parameters):
        found = ", ".join(sorted(map(str, content))[:10]) or "nothing"
        raise CheckpointError(
            f"{file}: expected the parameters of one model: {'; '.join(KEYS.values())}; or a bare"
            f" state dict of tensors; found {found}"
        )
    if all(name.startswith(PARALLEL) for name in parameters):
        parameters = {name.removeprefix(PARALLEL): value for name, value in parameters.items()}
    for name, value in parameters.items():
        if not plain(value):
            raise CheckpointError(f"{file}: {name}: expected finite real numbers, got others")
    return Imported(dict(parameters), part)


def import_checkpoint(
    file: Path,
    folder: Path,
    *,
    solver: str,
    problem: str,
    preset: str = "paper",
    solver_options: dict[str, Any] | None = None,
) -> Imported:
    """Make a run folder of an official checkpoint, or of parameters of a solver of ours.

    Parameters
    ----------
    file
        See `read`.
    folder
        The run folder to create; it must be new or empty.
    solver, problem
        The solver and the problem that the parameters belong to.
    preset
        Gives the solver's options, and the tasks on which an evaluation tests.
    solver_options
        Override single options of the preset. They are needed because the shapes of the
        parameters do not show the number of heads or the kind of normalisation.

    Raises
    ------
    CheckpointError
        If the file cannot be read or its parameters do not fit the solver.
    ConfigError, UnknownNameError
        If an option is invalid, or the folder is not empty, is used by another process, or cannot
        be written.
    """
    official = read(file)
    config = resolve(
        solver=solver,
        problem=problem,
        method=METHOD,
        preset=preset,
        fresh=True,
        solver_options=solver_options,
        method_options={
            "file": str(file.resolve()),
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "part": official.part,
        },
    )
    made = registry.solver(config.solver, config.problem, **config.solver_options)
    load = made.load_official
    wanted = made.module.state_dict()
    ours = official.parameters.keys() & wanted.keys()
    for name in ours:
        kinds = official.parameters[name].dtype, wanted[name].dtype
        if kinds[1].is_floating_point and not kinds[0].is_floating_point:
            raise CheckpointError(f"{file}: {name}: expected {kinds[1]}, got {kinds[0]}")
    if 2 * len(ours) > len(official.parameters) and not solver.startswith("official-"):
        load = made.module.load_state_dict
    try:
        load(official.parameters)
    except (LifelongError, LookupError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"{file}: its parameters do not fit solver {solver!r} for {problem!r} with the options"
            f" {config.solver_options}; give the solver other options ({reason:.400})"
        ) from error
    run = RunFolder(folder)
    with at_work(folder, new=True):
        run.create(config)
        made_here = provenance.present(config.device, plugins=plugins_used(config))
        provenance.note(folder, 0, made_here)
        checkpoint.save(run.checkpoints, 0, {"parameters": made.module.state_dict()})
    return official


def _load(file: Path) -> Any:
    """Return the content of a file, if it holds only tensors and plain values."""
    try:
        if file.suffix.lower() == ".safetensors":
            return safetensors.torch.load(file.read_bytes())
        with warnings.catch_warnings(), torch.serialization.safe_globals(UNUSED):
            warnings.simplefilter("ignore")  # torch warns of what is refused below
            return torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise CheckpointError(f"{file}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # a damaged file can raise errors of any type
        named = NAMED.search(str(error))
        if named:
            raise CheckpointError(
                f"{file}: refused, because reading it would run code that it names ({named[1]});"
                " only tensors and plain values are read. Its owner can save the parameters alone:"
                " torch.save(model.state_dict(), 'parameters.pt')"
            ) from error
        raise CheckpointError(
            f"{file}: expected a complete file of torch.save or safetensors, got another or an"
            " incomplete file"
        ) from error


def plain(value: Tensor) -> bool:
    """Return whether a tensor has values, and all are real and finite in single precision."""
    if value.layout != torch.strided or value.is_quantized or value.is_meta or value.is_complex():
        return False
    if value.is_nested:
        return False
    # One stored number can be said to be a tensor that no memory holds.
    strides = zip(value.stride(), value.shape, strict=True)
    stored = value[tuple(slice(None) if step or not size else 0 for step, size in strides)]
    if stored.untyped_storage().nbytes() < stored.numel() * stored.element_size():
        return False
    try:
        return bool(stored.to(torch.float32).isfinite().all())
    except RuntimeError:  # a type of numbers that torch cannot convert
        return False


def _all_tensors(parameters: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in parameters.items()
    )
