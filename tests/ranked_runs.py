"""A program that two processes run: `torchrun … ranked_runs.py FOLDER MODE …`."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import attrs
import torch
from tiny_runs import tiny_config
from torch import distributed

from lifelong_co import registry
from lifelong_co.errors import CheckpointError, Interrupted, NotFiniteError
from lifelong_co.learner import learn
from lifelong_co.protocols import Rollout
from lifelong_co.reinforce import shared_baseline
from lifelong_co.runs.data_parallel import Ranks, joined
from lifelong_co.runs.prepare import prepare
from lifelong_co.storage import checkpoint
from lifelong_co.tensors import records

OPTIONS = {"buffer_size": 6, "replay_size": 2, "replay_rows": 0.5}


TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
PROGRAM = Path(__file__)


def two(*command: object) -> str:
    """Run a program in two processes and return what they print."""
    path = os.pathsep.join([str(PROGRAM.parent), *sys.path])  # the same code as here
    done = subprocess.run(
        [*TORCHRUN, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def whole(ranks: Ranks, folder: Path) -> None:
    """Learn from the beginning to the end."""
    learn(prepare(tiny_config(**OPTIONS), folder / "whole", ranks=ranks))


def stopped(ranks: Ranks, folder: Path) -> None:
    """Stop after six steps at the request of the second process, then continue."""
    interrupted(ranks, folder / "stopped")
    learn(prepare(tiny_config(**OPTIONS), folder / "stopped", ranks=ranks, resume=True))


def damaged(ranks: Ranks, folder: Path) -> None:
    """Stop in the same way, lose the last state of the second process, then continue."""
    interrupted(ranks, folder / "damaged")
    if not ranks.first:
        last = checkpoint.checkpoints(ranks.place(folder / "damaged" / "checkpoints"))[-1]
        last.write_bytes(last.read_bytes()[:-1])
    ranks.wait()
    learn(prepare(tiny_config(**OPTIONS), folder / "damaged", ranks=ranks, resume=True))


def ruined(ranks: Ranks, folder: Path) -> None:
    """Stop in the same way, lose all states of the second process, and store both messages."""
    interrupted(ranks, folder / "ruined")
    if not ranks.first:
        for each in checkpoint.checkpoints(ranks.place(folder / "ruined" / "checkpoints")):
            each.write_bytes(b"")
    ranks.wait()
    try:
        learn(prepare(tiny_config(**OPTIONS), folder / "ruined", ranks=ranks, resume=True))
    except CheckpointError as error:
        (folder / f"ruined-{ranks.rank}.txt").write_text(str(error))


def overtaken(ranks: Ranks, folder: Path) -> None:
    """Finish a run, give the first process its state before the last tests back, then continue.

    The second process has its state after them, of the same step, as after a kill.
    """
    config, place = attrs.evolve(tiny_config(**OPTIONS), tests_after="next"), folder / "overtaken"
    before = folder / "before"
    real = checkpoint.save

    def save(path: Path, step: int, tree: Any) -> Path:
        if ranks.first and checkpoint.path_of(path, step).exists() and not before.exists():
            shutil.copytree(path, before)
        return real(path, step, tree)

    with patch.object(checkpoint, "save", save):
        learn(prepare(config, place, ranks=ranks))
    if ranks.first:
        shutil.copytree(place, folder / "complete")
        shutil.copytree(before, place / "checkpoints", dirs_exist_ok=True)
    ranks.wait()
    learn(prepare(config, place, ranks=ranks, resume=True))


def not_finite(ranks: Ranks, folder: Path) -> None:
    """Make the policy loss of the second process NaN at the second step; store both messages."""
    run = prepare(tiny_config(**OPTIONS), folder / "not-finite", ranks=ranks)
    policy = run.objective.loss

    def loss(instances: Any, rollout: Rollout) -> torch.Tensor:
        value = policy(instances, rollout)
        return value if ranks.first or run.steps == 0 else value * torch.nan

    run.objective = attrs.evolve(run.objective, loss=loss)
    try:
        learn(run)
    except NotFiniteError as error:
        (folder / f"not-finite-{ranks.rank}.txt").write_text(str(error))


def interrupted(ranks: Ranks, folder: Path) -> None:
    """Learn six steps."""
    asked = iter(range(1, 10**6))
    with suppress(Interrupted):
        learn(
            prepare(tiny_config(**OPTIONS), folder, ranks=ranks),
            stop=lambda: next(asked) == 6 and not ranks.first,
        )


def gradients(ranks: Ranks, folder: Path) -> None:
    """Average the gradients of two half batches in double precision and store them."""
    torch.manual_seed(0)
    config = tiny_config()
    problem = registry.problem("tsp")
    solver = registry.solver("pomo", problem, **config.solver_options)
    solver.module.double()
    frozen = next(solver.module.parameters()).requires_grad_(False)
    nodes = torch.rand(4, 5, 2, dtype=torch.double)
    mine = slice(2 * ranks.rank, 2 * ranks.rank + 2) if ranks.count > 1 else slice(None)
    instances = records.select(problem.instances(nodes=nodes), mine)
    loss = shared_baseline().loss(instances, solver.rollout(instances, "greedy"))
    loss.backward()
    ranks.average(solver.module.parameters())
    assert frozen.grad is None  # with a gradient of zero, Adam would decay the parameter
    found = [p.grad for p in solver.module.parameters() if p.grad is not None]
    torch.save(torch.cat([g.flatten() for g in found]), folder / f"{ranks.count}-{ranks.rank}.pt")


def threads() -> list[str]:
    """Return the names of this process's threads (Linux only, elsewhere none)."""
    return [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]


MODES = {
    mode.__name__: mode
    for mode in (whole, stopped, damaged, ruined, overtaken, not_finite, gradients)
}

if __name__ == "__main__":
    with joined() as ranks:
        folder = Path(sys.argv[1])
        for mode in sys.argv[2:]:
            MODES[mode](ranks, folder)
        if distributed.is_initialized():
            ranks.wait()
    assert "pt_gloo_runloop" not in threads()  # a group that is left can abort the process
