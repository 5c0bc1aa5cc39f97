"""One checkpoint: saved content is loaded exactly, and damaged files are refused."""

import collections
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from safetensors.torch import load_file, save_file
from tree_strategies import EXAMPLE, WHOLE_BYTES, check_equal, groups, hash_of, trees

from lifelong_co.errors import CheckpointError
from lifelong_co.storage import checkpoint
from lifelong_co.storage.checkpoint import load, save
from lifelong_co.storage.tree import DTYPES


@settings(max_examples=40)
@given(trees())
def test_loaded_tree_equals_the_saved_one(
    tmp_path_factory: pytest.TempPathFactory, tree: Any
) -> None:
    """Types, values, the order of keys, tensors and shared objects are the same."""
    folder = tmp_path_factory.mktemp("tree")
    loaded = load(save(folder, 3, tree))
    check_equal(loaded, tree)
    assert groups(loaded) == groups(tree)
    shutil.rmtree(folder)


def test_training_continues_from_a_loaded_state(tmp_path: Path) -> None:
    """A module, its Adam and the random states of torch, numpy and Python continue unchanged."""
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(module.parameters())
    generator = torch.Generator().manual_seed(5)
    module(torch.rand(8, 3, generator=generator)).square().sum().backward()
    optimizer.step()
    stream, numpy_stream = random.Random(1), np.random.default_rng(1)
    path = save(
        tmp_path,
        1,
        {
            "module": module.state_dict(),  # an OrderedDict
            "optimizer": optimizer.state_dict(),
            "torch": generator.get_state(),
            "python": stream.getstate(),
            "numpy": numpy_stream.bit_generator.state,
            "parameters": list(module.parameters()),
        },
    )
    tree = load(path)
    other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    other.load_state_dict(tree["module"])
    check_equal(dict(other.state_dict()), dict(module.state_dict()))
    again = torch.optim.Adam(other.parameters())
    again.load_state_dict(tree["optimizer"])
    check_equal(again.state_dict(), optimizer.state_dict())
    fresh = torch.Generator()
    fresh.set_state(tree["torch"])
    assert torch.equal(torch.rand(4, generator=fresh), torch.rand(4, generator=generator))
    python = random.Random()
    python.setstate(tree["python"])
    assert python.random() == stream.random()
    bits = np.random.default_rng()
    bits.bit_generator.state = tree["numpy"]
    assert bits.random() == numpy_stream.random()
    assert all(type(tensor) is torch.Tensor for tensor in tree["parameters"])


def test_a_shared_tensor_is_stored_once(tmp_path: Path) -> None:
    """A thousand references to one tensor store its bytes once and load as one object."""
    shared = torch.rand(10_000)
    path = save(tmp_path, 1, [{"instances": shared, "index": i} for i in range(1_000)])
    assert path.stat().st_size < 2 * shared.nbytes + 100_000
    assert len({id(item["instances"]) for item in load(path)}) == 1


def test_a_slice_of_a_large_tensor_is_stored_without_the_rest(tmp_path: Path) -> None:
    """Of disjoint slices of one memory, only their bytes are stored."""
    large = torch.rand(100_000)
    path = save(tmp_path, 1, [large[:10], large[10:20]])
    assert path.stat().st_size < 10_000
    check_equal(load(path), [large[:10], large[10:20]])


def test_long_integers_are_restored(tmp_path: Path) -> None:
    """Python cannot print integers beyond 4,300 digits; they are saved and loaded, too."""
    tree = {2**20_000: -(2**20_000) - 1, -(2**63) - 1: 2**63}
    check_equal(load(save(tmp_path, 1, tree)), tree)


def test_loaded_tensors_do_not_depend_on_the_file(tmp_path: Path) -> None:
    """A loaded tensor has separate memory: neither it nor the file changes with the other."""
    path = save(tmp_path, 1, EXAMPLE)
    tree, content = load(path), path.read_bytes()
    tree["weights"]["a"] += 1
    assert path.read_bytes() == content
    path.write_bytes(b"\xff" * len(content))
    assert torch.equal(tree["weights"]["a"], EXAMPLE["weights"]["a"] + 1)


def test_the_tensors_are_plain_safetensors(tmp_path: Path) -> None:
    """Any reader of the format finds the tensors; the file contains no pickle."""
    path = save(tmp_path, 1, EXAMPLE)
    assert torch.equal(load_file(path)["t0"], EXAMPLE["weights"]["a"])


def test_deepest_allowed_tree_is_restored(tmp_path: Path) -> None:
    """The deepest tree that can be saved can be loaded."""
    tree: Any = 7
    for _ in range(100):
        tree = {"deeper": (tree,)} if isinstance(tree, int) else {0: tree}
    with pytest.raises(CheckpointError, match="deeper than 100"):
        save(tmp_path, 1, {"more": tree})
    check_equal(load(save(tmp_path, 1, tree[0])), tree[0])


def test_dict_subclasses_are_loaded_as_dicts(tmp_path: Path) -> None:
    """Torch's state_dict() is an OrderedDict; its order is kept, its class is not."""
    loaded = load(save(tmp_path, 1, collections.OrderedDict(b=1, a=2)))
    assert type(loaded) is dict
    assert list(loaded.items()) == [("b", 1), ("a", 2)]


def test_truncated_checkpoint_is_refused(tmp_path: Path) -> None:
    """A checkpoint cut at every third length is refused; the message has file and reason."""
    path = save(tmp_path, 12, EXAMPLE)
    content = path.read_bytes()
    for length in [*range(0, len(content), 3), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=r"00000012\.safetensors: truncated or altered"):
            load(path)
    path.write_bytes(content)
    check_equal(load(path), EXAMPLE)


def test_flipped_bits_are_refused(tmp_path: Path) -> None:
    """One wrong bit in every third byte of the checkpoint and of its hash is refused."""
    path = save(tmp_path, 12, EXAMPLE)
    for file in (path, hash_of(path)):
        content = file.read_bytes()
        for position in [*range(0, len(content), 3), len(content) - 1]:
            altered = bytearray(content)
            altered[position] ^= 1 << (position % 8)
            file.write_bytes(altered)
            with pytest.raises(CheckpointError, match=r"checkpoint-00000012\.safetensors: "):
                load(path)
        file.write_bytes(content + b"\0")
        with pytest.raises(CheckpointError, match=r"checkpoint-00000012\.safetensors: "):
            load(path)
        file.write_bytes(content)
    check_equal(load(path), EXAMPLE)


def test_missing_files_are_refused(tmp_path: Path) -> None:
    """The error names a missing checkpoint or a missing hash."""
    path = save(tmp_path, 12, EXAMPLE)
    hash_of(path).unlink()
    with pytest.raises(CheckpointError, match=r"00000012\.safetensors: its hash is missing"):
        load(path)
    path.unlink()
    with pytest.raises(CheckpointError, match=r"00000012\.safetensors: no such checkpoint"):
        load(path)


def test_a_renamed_checkpoint_is_refused(tmp_path: Path) -> None:
    """The hash file has the checkpoint's name, so a checkpoint of another step does not pass."""
    path = save(tmp_path, 12, EXAMPLE)
    other = tmp_path / "checkpoint-00000013.safetensors"
    hash_of(path).rename(hash_of(other))
    path.rename(other)
    with pytest.raises(CheckpointError, match=r"00000013\.safetensors: cannot be checked"):
        load(other)


def seal(path: Path) -> None:
    """Write the right hash beside a file made by hand."""
    hash_of(path).write_text(f"{checkpoint._sha256(path)}  {path.name}\n")


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (None, r"format 1, got none"),
        ({"lifelong_co": '{"format": 2, "tree": null}'}, r"format 1, got 2"),
        ({"lifelong_co": "[]"}, r"not a lifelong-co checkpoint"),
        ({"lifelong_co": "{"}, r"not a lifelong-co checkpoint"),
        ({"lifelong_co": '{"format": 1}'}, r"not a lifelong-co checkpoint"),
        ({"lifelong_co": '{"format": 1, "tree": {"tensor": 9}}'}, r"not a lifelong-co checkpoint"),
        ({"lifelong_co": '{"format": 1, "tree": {"eval": "1"}}'}, r"unknown mark \['eval'\]"),
        ({"lifelong_co": '{"format": 1, "tree": ' + "[" * 5000}, r"not a lifelong-co checkpoint"),
        (
            {"lifelong_co": '{"format": 1, "tree": {"bytes": 0, "dtype": "hub", "shape": []}}'},
            r"not a lifelong-co checkpoint",
        ),
    ],
)
def test_files_of_other_programs_are_refused(
    tmp_path: Path, metadata: dict[str, str] | None, reason: str
) -> None:
    """A file with a right hash that we did not write, or of a later format, is refused by name."""
    path = tmp_path / "checkpoint-00000001.safetensors"
    save_file({"t0": torch.zeros(2)}, path, metadata=metadata)
    seal(path)
    with pytest.raises(CheckpointError, match=rf"00000001\.safetensors: .*{reason}"):
        load(path)


def test_file_of_another_format_is_refused(tmp_path: Path) -> None:
    """A pickle is not read, even with a right hash."""
    path = tmp_path / "checkpoint-00000001.safetensors"
    torch.save(EXAMPLE, path)
    seal(path)
    with pytest.raises(CheckpointError, match="not a lifelong-co checkpoint"):
        load(path)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs the program sha256sum")
def test_sha256sum_checks_a_checkpoint(tmp_path: Path) -> None:
    """`sha256sum -c` in the folder accepts the checkpoint and refuses an altered one."""
    path = save(tmp_path, 12, EXAMPLE)
    command = ["sha256sum", "--strict", "-c", hash_of(path).name]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "checkpoint-00000012.safetensors: OK\n"
    path.write_bytes(path.read_bytes() + b"\0")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("name", WHOLE_BYTES)
def test_tensors_of_every_dtype_are_restored(tmp_path: Path, name: str) -> None:
    """Zeros and ones, an empty tensor and one without dimensions keep their dtype."""
    octets = torch.arange(32, dtype=torch.uint8) % 2
    tensor = octets.view(DTYPES[name])
    tree = [tensor, tensor[:0], tensor[1].clone(), tensor.expand(2, -1)]
    check_equal(load(save(tmp_path, 1, tree)), tree)


class Payload:
    """An object whose pickle runs code when it is read."""


@pytest.mark.parametrize(
    ("tree", "place"),
    [
        ({"a": [1, {2: Payload()}]}, r"tree\['a'\]\[1\]\[2\]: .*Payload"),
        ({"a": (0, {1, 2})}, r"tree\['a'\]\[1\]: .*builtins\.set"),
        (b"bytes", r"tree: .*builtins\.bytes"),
        ([np.float64(1)], r"tree\[0\]: .*numpy\.float64"),
        ([torch.Size([1])], r"tree\[0\]: .*torch\.Size"),
        ({"x": {1.5: 0}}, r"tree\['x'\]: expected str or int as keys, got 1\.5 \(float\)"),
        ({True: 0}, r"tree: expected str or int as keys, got True \(bool\)"),
        ([torch.ones(2).to_sparse()], r"tree\[0\]: expected a dense tensor"),
        ([torch.ones(2, device="meta")], r"tree\[0\]: expected a dense tensor .* on meta"),
        ({"f": print}, r"tree\['f'\]: .*builtin_function"),
    ],
)
def test_other_objects_are_refused_with_their_place(tmp_path: Path, tree: Any, place: str) -> None:
    """They are refused before a file is written; the message has the place and the type."""
    with pytest.raises(CheckpointError, match=place):
        save(tmp_path, 1, tree)
    assert list(tmp_path.iterdir()) == []


def test_a_tree_that_contains_itself_is_refused(tmp_path: Path) -> None:
    """A cycle raises an error and writes no endless file."""
    tree: dict[str, Any] = {}
    tree["self"] = tree
    with pytest.raises(CheckpointError, match="does the tree contain itself"):
        save(tmp_path, 1, tree)


def test_checkpoints_have_the_permissions_of_ordinary_files(tmp_path: Path) -> None:
    """Everyone who can read other files of the run can read a checkpoint."""
    (tmp_path / "ordinary").write_text("")
    mode = (tmp_path / "ordinary").stat().st_mode
    path = save(tmp_path / "deep" / "folder", 1, None)
    assert path.stat().st_mode == hash_of(path).stat().st_mode == mode
