"""Checkpoints: whole or not there, checked by a hash, free of pickle.

A checkpoint is two files: ``checkpoint-00000012.safetensors`` holds the tensors and, in its
metadata, everything else as JSON (`skeleton`); ``….safetensors.sha256`` holds its hash as
``sha256sum -c`` reads it. The checkpoint exists from the moment the first file has its name, which
is after its content was read back and its hash written.
"""

import hashlib
import json
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lifelong_co.errors import CheckpointError
from lifelong_co.storage.files import move_whole, synchronize, write_whole
from lifelong_co.storage.tree import Tree, flatten, octets, unflatten

FORMAT = 1
UNFINISHED = ".unfinished"
METADATA = "lifelong_co"  # the key of the skeleton in the file's metadata
AT_ONCE = 100  # tensors that are read back through one opening of the file
NAME = re.compile(r"checkpoint-(\d{8,})\.safetensors(\.sha256)?")
MALFORMED = (AttributeError, LookupError, TypeError, ValueError, RuntimeError)  # as read by us


class CheckpointWarning(UserWarning):
    """A checkpoint was refused and the one before it used."""


def save(folder: Path, step: int, tree: Tree, keep: int = 2) -> Path:
    """Write a checkpoint and, once it is verified, remove those it replaces.

    Parameters
    ----------
    folder
        Made if missing; nothing else may save to it at the same time.
    step
        Number of the checkpoint, at least 0.
    tree
        What to save: dicts with str or int keys, lists, tuples, None, bool, int, float, str and
        tensors. Tensors come back on the CPU and contiguous, dict subclasses as dicts.
    keep
        How many checkpoints stay, at least 1: this one and the newest before it. Those of later
        steps go, as they belong to a run that was taken back.

    Returns
    -------
    The checkpoint's path.

    Raises
    ------
    CheckpointError
        If the tree holds anything else or the files cannot be written; the checkpoints that were
        there stay.
    """
    if step < 0 or keep < 1:
        raise CheckpointError(
            f"checkpoint: expected step >= 0 and keep >= 1, got step {step}, keep {keep}"
        )
    skeleton, tensors = flatten(tree)
    text = json.dumps({"format": FORMAT, "step": step, "tree": skeleton}, allow_nan=False)
    named = {f"t{index}": tensor for index, tensor in enumerate(tensors)}
    path = path_of(folder, step)
    # In a separate folder, as safetensors writes under yet another name first.
    fresh = folder / UNFINISHED / path.name
    try:
        shutil.rmtree(fresh.parent, ignore_errors=True)
        fresh.parent.mkdir(parents=True)
        save_file(named, fresh, metadata={METADATA: text})
        synchronize(fresh)
        _compare(fresh, text, named)
        _publish(fresh, path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: could not be written ({error})") from error
    finally:
        shutil.rmtree(fresh.parent, ignore_errors=True)
    _prune(folder, step, keep)
    return path


def load(path: Path) -> Tree:
    """Read a checkpoint; nothing in it is executed.

    Raises
    ------
    CheckpointError
        If it is missing, truncated, altered, without its hash, or of an unknown format; the
        message names the file.
    """
    try:
        _check_hash(path)
        with safe_open(path, framework="pt") as file:
            content = json.loads((file.metadata() or {}).get(METADATA, "{}"))
            if content.get("format") != FORMAT:
                raise CheckpointError(
                    f"{path}: expected a lifelong-co checkpoint of format {FORMAT}, "
                    f"got {content.get('format', 'none')}"
                )
            # Cloned: what safetensors returns is a view of the mapped file.
            return unflatten(content["tree"], lambda index: _tensor(file, f"t{index}").clone())
    except OSError as error:
        raise CheckpointError(f"{path}: could not be read ({error})") from error
    except (SafetensorError, *MALFORMED) as error:
        # The hash is right, so it was written like this: by another program.
        raise CheckpointError(f"{path}: not a lifelong-co checkpoint ({error})") from error


def latest(folder: Path, limit: int | None = None) -> tuple[Path, Tree] | None:
    """Read the newest checkpoint of a folder that is whole.

    Parameters
    ----------
    folder, limit
        Where checkpoints lie, if any; those of later steps than the limit are left aside.

    Returns
    -------
    Its path and its tree, or None when the folder holds no checkpoint.

    Warns
    -----
    CheckpointWarning
        For each newer one that was refused.

    Raises
    ------
    CheckpointError
        If there are checkpoints and all are refused; the message names them.
    """
    refused: list[CheckpointError] = []
    for path in reversed(checkpoints(folder)):
        if limit is not None and step_of(path) > limit:
            continue
        try:
            tree = load(path)
        except CheckpointError as error:
            refused.append(error)
            continue
        for reason in refused:
            warnings.warn(f"{reason}; using {path.name}", CheckpointWarning, stacklevel=2)
        return path, tree
    if refused:
        reasons = "; ".join(str(reason) for reason in refused)
        raise CheckpointError(f"{folder}: no checkpoint can be used: {reasons}")
    return None


def path_of(folder: Path, step: int) -> Path:
    """Return where the checkpoint of a step is, if it is there."""
    return folder / f"checkpoint-{step:08d}.safetensors"


def step_of(path: Path) -> int:
    """Return the step of a checkpoint, as `path_of` names it."""
    return int(path.stem.rpartition("-")[2])


def checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder, oldest first, unread."""
    return [path for _, path in _files(folder) if path.suffix == ".safetensors"]


def _files(folder: Path) -> list[tuple[int, Path]]:
    """Return ``(step, path)`` of checkpoints and hashes, by step, a checkpoint before its hash."""
    if not folder.is_dir():
        return []
    matches = [(NAME.fullmatch(path.name), path) for path in folder.iterdir()]
    return sorted((int(match[1]), path) for match, path in matches if match)


def _tensor(file: Any, name: str) -> Tensor:
    tensor: Tensor = file.get_tensor(name)
    return tensor


def _compare(fresh: Path, text: str, named: dict[str, Tensor]) -> None:
    """Raise OSError unless the file, read back, holds what is in memory, bit for bit."""
    names = list(named)
    # In parts: what has been read of an open file stays in memory.
    for start in range(0, len(names) + 1, AT_ONCE):
        with safe_open(fresh, framework="pt") as file:
            same = (file.metadata() or {}).get(METADATA) == text and all(
                torch.equal(octets(_tensor(file, name)), octets(named[name]))
                for name in names[start : start + AT_ONCE]
            )
        if not same:
            raise OSError(f"{fresh}: read back, it is not what was written")


def _publish(fresh: Path, path: Path) -> None:
    """Give a verified file its name, its hash first."""
    hash_file = _hash_file(path)
    line = f"{_sha256(fresh)}  {path.name}\n".encode()
    # A checkpoint of the same step is replaced in two moves; in between either content is whole.
    old = hash_file.read_bytes() if path.exists() and hash_file.exists() else b""
    write_whole(hash_file, line + old)
    shutil.copymode(hash_file, fresh)  # as the umask says; safetensors lets none but the owner read
    move_whole(fresh, path)
    if old:
        write_whole(hash_file, line)


def _prune(folder: Path, step: int, keep: int) -> None:
    """Remove all but the newest checkpoints, and what interrupted saves left behind."""
    found = _files(folder)
    whole = [other for other, path in found if path.suffix == ".safetensors"]
    kept = [other for other in whole if other <= step][-keep:]
    for other, path in found:
        if other not in kept:
            path.unlink()
    for path in folder.glob(".checkpoint-*.tmp"):  # of `write_whole`
        path.unlink()


def _hash_file(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_hash(path: Path) -> None:
    if not path.is_file():
        raise CheckpointError(f"{path}: no such checkpoint")
    hash_file = _hash_file(path)
    if not hash_file.is_file():
        raise CheckpointError(f"{path}: its hash is missing, expected {hash_file.name} beside it")
    lines = hash_file.read_bytes()
    line = rb"([0-9a-f]{64})  " + re.escape(path.name.encode()) + rb"\n"
    if not re.fullmatch(rb"(?:" + line + rb")+", lines):
        raise CheckpointError(
            f"{path}: cannot be checked, expected a line 'HASH  {path.name}' in {hash_file.name}"
        )
    expected = [found.decode() for found in re.findall(line, lines)]
    got = _sha256(path)
    if got not in expected:
        raise CheckpointError(
            f"{path}: truncated or altered, expected SHA-256 {expected[0]}, got {got}"
        )
