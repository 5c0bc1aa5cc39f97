"""Checkpoints: complete or absent, checked by a hash, without pickle.

A checkpoint is two files. ``checkpoint-00000012.safetensors`` holds the tensors and, in its
metadata, everything else as JSON (see `tree`). ``….safetensors.sha256`` holds the hash, in the form
that ``sha256sum -c`` reads. The first file gets its name last: after its content was read back and
compared, and after its hash was written.
"""

import hashlib
import json
import os
import re
import shutil
import warnings
from pathlib import Path
from typing import Any, BinaryIO

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lifelong_co.errors import CheckpointError
from lifelong_co.storage.appended import checksum_file
from lifelong_co.storage.files import move_whole, synchronize, write_whole
from lifelong_co.storage.tree import Tree, flatten, octets, unflatten

FORMAT = 1
UNFINISHED = ".unfinished"
METADATA = "lifelong_co"  # the key of the skeleton in the file's metadata
NAME = re.compile(r"checkpoint-(\d{8,})\.safetensors(\.sha256)?")
# The errors that our code raises on a file of another program.
MALFORMED = (AttributeError, LookupError, OverflowError, TypeError, ValueError, RuntimeError)

KEPT = 2
"""How many checkpoints stay in a folder."""


class CheckpointWarning(UserWarning):
    """A damaged file is not used: an older checkpoint or a second copy is used instead."""


def save(folder: Path, step: int, tree: Tree) -> Path:
    """Write and verify a checkpoint, then remove those that it replaces.

    This one and the newest before it stay. Checkpoints of later steps are removed, because the run
    has gone back to an earlier step.

    Parameters
    ----------
    folder
        Made if missing. Only one process may save to it at a time.
    step
        Number of the checkpoint, at least 0.
    tree
        The content: dicts with str or int keys, lists, tuples, None, bool, int, float, str and
        tensors. `load` returns tensors contiguous and on the CPU, and dict subclasses as dicts.

    Returns
    -------
    The checkpoint's path.

    Raises
    ------
    CheckpointError
        If the tree holds anything else or the files cannot be written; earlier checkpoints stay.
    """
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
    _prune(folder, step)
    return path


def load(path: Path) -> Tree:
    """Read a checkpoint; nothing in it is executed.

    Raises
    ------
    CheckpointError
        If it is missing, truncated or altered, or has no hash or an unknown format; the message
        names the file.
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
            # Cloned: safetensors returns views of the mapped file.
            return unflatten(content["tree"], lambda index: file.get_tensor(f"t{index}").clone())
    except OSError as error:
        raise CheckpointError(f"{path}: could not be read ({error})") from error
    except (SafetensorError, *MALFORMED) as error:
        # The hash is right, so the file is undamaged: another program wrote it.
        raise CheckpointError(f"{path}: not a lifelong-co checkpoint ({error})") from error


def latest(folder: Path, limit: int | None = None) -> tuple[Path, Tree] | None:
    """Read the newest usable checkpoint of a folder.

    Parameters
    ----------
    folder, limit
        The folder of the checkpoints, which may be missing; the last step to use (None: any).

    Returns
    -------
    Its path and its tree, or None if the folder holds no checkpoint.

    Warns
    -----
    CheckpointWarning
        For each newer checkpoint that cannot be used.

    Raises
    ------
    CheckpointError
        If the folder holds checkpoints and none of them can be used; the message names them.
    """
    refused: list[str] = []
    for path in reversed(checkpoints(folder)):
        if limit is not None and step_of(path) > limit:
            continue
        try:
            tree = load(path)
        except CheckpointError as error:
            refused.append(str(error))
            continue
        for reason in refused:
            warnings.warn(f"{reason}; using {path.name}", CheckpointWarning, stacklevel=2)
        return path, tree
    if refused:
        raise CheckpointError(f"{folder}: no checkpoint can be used: {'; '.join(refused)}")
    return None


def path_of(folder: Path, step: int) -> Path:
    """Return the path of the checkpoint of a step, whether it exists or not."""
    return folder / f"checkpoint-{step:08d}.safetensors"


def step_of(path: Path) -> int:
    """Return the step of a checkpoint from its file name (see `path_of`)."""
    return int(path.stem.rpartition("-")[2])


def checkpoints(folder: Path) -> list[Path]:
    """Return the paths of a folder's checkpoints, oldest first, without reading them."""
    return [path for _, path in _files(folder) if path.suffix == ".safetensors"]


def _files(folder: Path) -> list[tuple[int, Path]]:
    """Return ``(step, path)`` of all checkpoints and hashes, by step; the hash comes second."""
    names = os.listdir(folder) if folder.is_dir() else []  # fast: a folder for each task lies here
    matches = map(NAME.fullmatch, names)
    return sorted((int(match[1]), folder / match[0]) for match in matches if match)


def _compare(fresh: Path, text: str, named: dict[str, Tensor]) -> None:
    """Read the file and raise OSError unless it equals the content in memory, bit for bit."""
    with fresh.open("rb") as file:  # not `safe_open`: version 0.8 leaks memory for each tensor
        size = int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(size))
            same = header["__metadata__"][METADATA] == text and all(
                _same(file, 8 + size, header[name], tensor) for name, tensor in named.items()
            )
        except MALFORMED:
            same = False
    if not same:
        raise OSError(f"{fresh}: read back, it is not what was written")


def _same(file: BinaryIO, data: int, entry: dict[str, Any], tensor: Tensor) -> bool:
    start, end = entry["data_offsets"]
    file.seek(data + start)
    written: bool = file.read(end - start) == octets(tensor).numpy().tobytes()
    return written and entry["shape"] == list(tensor.shape)


def _publish(fresh: Path, path: Path) -> None:
    """Write the hash of a verified file, then give the file its name."""
    hash_file = checksum_file(path)
    line = f"{_sha256(fresh)}  {path.name}\n".encode()
    # Replacing a checkpoint takes two moves; between them the hash file has the hashes of both.
    old = hash_file.read_bytes() if path.exists() and hash_file.exists() else b""
    write_whole(hash_file, line + old)
    shutil.copymode(hash_file, fresh)  # safetensors ignores the umask: only the owner can read
    move_whole(fresh, path)
    if old:
        write_whole(hash_file, line)


def _prune(folder: Path, step: int) -> None:
    """Keep only the newest checkpoints; also remove temporary files of interrupted saves."""
    found = _files(folder)
    whole = [other for other, path in found if path.suffix == ".safetensors"]
    kept = [other for other in whole if other <= step][-KEPT:]
    for other, path in found:
        if other not in kept:
            path.unlink()
    for path in folder.glob(".checkpoint-*.tmp"):  # `write_whole` makes them
        path.unlink()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_hash(path: Path) -> None:
    if not path.is_file():
        raise CheckpointError(f"{path}: no such checkpoint")
    hash_file = checksum_file(path)
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
