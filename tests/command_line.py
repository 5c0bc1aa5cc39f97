"""Calls of the command line, in this process or in a new one, and comparisons of runs."""

import contextlib
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import attrs
import torch
from lifelong_co_cli.main import main

from lifelong_co.storage import checkpoint

MODEL = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 8,
    "encoder_layer_num": 1,
    "ff_hidden_dim": 16,
}
# Buffer and replay are smaller than the number of records, so that both draw at random.
REPLAY = {"buffer_size": 8, "replay_size": 3, "replay_rows": 0.5}
SMALL = (
    *(f"--solver-option={name}={value}" for name, value in MODEL.items()),
    *("--tests=8", "--curve-every=1", "--device=cpu"),
)


@attrs.frozen
class Outcome:
    """The exit status of a command, and its output."""

    status: int
    out: str
    err: str


def call(*arguments: object) -> Outcome:
    """Run `lifelong-co` in this process; errors of other types than ours are raised."""
    before = sys.argv, warnings.showwarning
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["lifelong-co", *map(str, arguments)]
    status = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    finally:
        sys.argv, warnings.showwarning = before
    return Outcome(status, out.getvalue(), err.getvalue())


def spawn(*arguments: object, **settings: Any) -> "subprocess.Popen[str]":
    """Start `lifelong-co` in a new process; its output goes to a pipe by default."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "lifelong_co_cli.main", *map(str, arguments)]
    return subprocess.Popen(command, **(pipes | settings))


def wait(process: "subprocess.Popen[str]", seconds: float = 120) -> Outcome:
    """Wait for the end of a process; a negative status is a signal."""
    out, err = process.communicate(timeout=seconds)
    return Outcome(process.returncode, out, err)


def run_options(tasks: Path, method: str, problem: str, seed: int = 0) -> list[str]:
    """Return the arguments of a run that takes less than a second."""
    options = ["run", f"--tasks={tasks}", f"--method={method}", f"--problem={problem}"]
    replay = [f"--{name.replace('_', '-')}={value}" for name, value in REPLAY.items()]
    return [*options, f"--seed={seed}", *SMALL, *(replay if method == "llr-bc" else [])]


def results(folder: Path) -> dict[str, Any]:
    """Return what equal runs share to the byte: files, the log and the state without times."""
    parameters = sorted(folder.glob("checkpoints/after-task-*/*.safetensors"))
    parts = sorted(folder.glob("checkpoints/after-task-*/costs.csv"))
    checksum = folder / "costs.csv.sha256"
    files = [folder / "costs.csv", checksum, folder / "metrics.json", *parameters, *parts]
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    tree = found[1]
    del tree["sums"]["seconds"]
    del tree["journal"]["log.jsonl"]  # it has the times
    del tree["settings"]  # those of config.toml, which has the path of the task file
    logs = [folder / "log.jsonl", *sorted(folder.glob("checkpoints/after-task-*/log.jsonl"))]
    entries = {str(path.relative_to(folder)): entries_of(path) for path in logs}
    contents = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return {**contents, **entries, found[0].name: plain(tree)}


def entries_of(log: Path) -> list[dict[str, Any]]:
    """Return the entries of a log without their times."""
    entries: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
    for entry in entries:
        del entry["seconds"]
    return entries


def plain(tree: Any) -> Any:
    """Return a tree with its tensors as bytes, so that `==` compares it bit for bit."""
    if isinstance(tree, torch.Tensor):
        return str(tree.dtype), tuple(tree.shape), tree.numpy().tobytes()
    if isinstance(tree, dict):
        return {key: plain(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(value) for value in tree]
    return tree


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file under a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
