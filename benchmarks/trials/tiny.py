"""Tiny runs, sweeps and pretrainings that the trials work with; a run takes about a second."""

import json
import shutil
from pathlib import Path
from typing import Any

from command_line import plain, results  # of the tests
from ends import tree
from forks import call, fork_runs

from lifelong_co.storage import checkpoint

TASKS = (
    "epochs = 1\nbatches = 2\nbatch_size = 4\n"
    'tasks = [{distribution = "U", size = 5}, {distribution = "E", size = 6}]\n'
)
SIZES = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 8,
    "encoder_layer_num": 1,
    "ff_hidden_dim": 16,
}
MODEL = tuple(f"--solver-option={name}={value}" for name, value in SIZES.items())
SMALL = ("--tests=4", "--device=cpu")
REPLAY = ("--buffer-size=8", "--replay-size=3", "--replay-rows=0.5")
RUN = (
    *("run", "--tasks=tasks.toml", "--problem=cvrp", "--method=llr-bc", "--curve-every=1"),
    *(*MODEL, *SMALL, *REPLAY),
)
PRETRAIN = (
    *("pretrain", "--solver=omni", "--tasks=tasks.toml", "--iterations=4", "--validate-every=2"),
    *(*MODEL, *SMALL),
)
SWEEP = (*("sweep", "sweep.toml", "--workers=1"),)
GRID = (
    'tasks = ["tasks.toml"]\nseeds = "0-1"\ndevice = "cpu"\ntests = 4\n'
    f"solver_options = {{{', '.join(f'{name} = {value}' for name, value in SIZES.items())}}}\n"
    'methods = ["fine-tuning"]\n'
)


def lay_out(place: Path) -> None:
    """Write the task file and the sweep file."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "tasks.toml").write_text(TASKS)
    (place / "sweep.toml").write_text(GRID)


def make(arguments: tuple[str, ...], place: Path, name: str) -> float:
    """Carry out a command with ``--out NAME``; return its seconds."""
    outcome = call([*arguments, f"--out={name}"], place, fork_runs)
    if outcome.status != 0:
        raise RuntimeError(f"expected a healthy command to end well\n{outcome}")
    return outcome.seconds


def copy(source: Path, target: Path) -> None:
    """Replace a folder by a copy of another one."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def same(kind: str, folder: Path) -> Any:
    """Return what equal runs, pretrainings, sweeps or reports share to the byte."""
    if kind == "run":
        return results(folder)
    if kind == "pretrain":
        found = checkpoint.latest(folder / "checkpoints")
        assert found is not None
        state = found[1]
        entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        for entry in [state["sums"], *state["log"], *entries]:
            entry.pop("seconds", None)
        return found[0].name, plain(state), entries
    if kind == "sweep":
        runs = {path.name: results(path) for path in sorted((folder / "runs").iterdir())}
        return runs, (folder / "table.csv").read_bytes()
    return tree(folder)
