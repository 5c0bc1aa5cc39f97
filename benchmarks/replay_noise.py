"""The noise of the consolidation gradient, for several ways to replay a part of the buffer.

    python benchmarks/replay_noise.py RUN [--draws 50]

RUN is a finished run of llr-bc with its checkpoints, whose buffer holds bundles of four. For each
way the gradient is drawn many times at the run's last parameters. The table has the number of
instances that a draw encodes, and the noise: the distance (root mean square) to the gradient of
hundreds of steps, divided by the norm of that gradient.
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import torch
from lifelong_co_plugins.methods.experience_replay.behaviors import (
    batches_of_one_size,
    behaviors,
    count,
)
from lifelong_co_plugins.methods.experience_replay.behaviors import bundles as bundled_in
from lifelong_co_plugins.methods.experience_replay.bundles import foreign
from lifelong_co_plugins.methods.experience_replay.memory import ADOPTED, Memory
from lifelong_co_plugins.methods.experience_replay.weights import Weighing
from torch import Tensor

from lifelong_co.config.run_config import read_config
from lifelong_co.replay.consolidation import consolidation_loss, weights_of
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import load, start
from lifelong_co.storage import checkpoint

Draw = Callable[[], tuple[Tensor, int]]


@attrs.frozen
class Replay:
    """The buffer of a finished run, and the solver that replays it."""

    learner: Any
    memory: Memory
    """Of the buffer's steps, each alone."""
    bundles: list[Any]
    """The same, as they were recorded."""
    loss: Any

    def gradient(self, units: Any, chosen: Any, weights: Any) -> tuple[Tensor, int]:
        """Return the gradient of the loss, flat, and how many rows were encoded."""
        module = self.learner.solver.module
        module.zero_grad()
        for group in batches_of_one_size(units, chosen, module):
            pairs = [units[i] for i in group], [chosen[i] for i in group]
            learners = behaviors(self.learner, *pairs)
            shares = [
                self.loss.unit(weights[i], units[i].log_probs(chosen[i]), learner)
                for i, learner in zip(group, learners, strict=True)
            ]
            torch.stack(shares).sum().backward()
        parts = [p.grad.flatten() for p in module.parameters() if p.grad is not None]
        firsts = [bundle[0] for bundle in bundled_in(units, chosen)]
        return torch.cat(parts), sum(count(units[i], chosen[i]) for i in firsts)

    def uniform(self, k: int, share: float) -> Draw:
        """Return draws of a share of the rows of ``k`` units, each row as likely."""

        def draw() -> tuple[Tensor, int]:
            units, chosen = self.memory.draw(k, share)
            teachers = [unit.log_probs(rows) for unit, rows in zip(units, chosen, strict=True)]
            return self.gradient(units, chosen, weights_of(self.loss, teachers))

        return draw

    def weighted(self, k: int, share: float, *, bundled: bool = False) -> Draw:
        """Return draws by weight, of ``k`` steps alone or in as many bundles."""
        held = self.bundles if bundled else self.memory.snapshot
        weighing = Weighing(self.loss)

        def draw() -> tuple[Tensor, int]:
            units = self.memory.random.sample(held, k)
            return self.gradient(*weighing.draw(units, share, self.memory.random.random()))

        return draw


def replay_of(folder: Path) -> Replay:
    """Return the buffer and the solver of a finished run."""
    config = read_config(folder)
    run = start(config, RunFolder(folder))
    found = checkpoint.latest(RunFolder(folder).checkpoints)
    if found is None:
        raise SystemExit(f"{folder}: expected checkpoints")
    load(run, found[1])
    memory = Memory("reservoir", config.method_options["buffer_size"])
    memory.load_state_dict(run.learner, found[1]["method"])
    bundles, memory.snapshot = memory.snapshot, foreign(memory.snapshot, "step", 1, ADOPTED)
    names = [config.method_options[name] for name in ("weighting", "divergence", "behavior")]
    return Replay(run.learner, memory, bundles, consolidation_loss(*names))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--draws", type=int, default=50)
    options = parser.parse_args()
    torch.set_num_threads(1)
    replay = replay_of(options.run)
    whole = replay.uniform(64, 1.0)
    exact = torch.stack([whole()[0] for _ in range(12)]).mean(dim=0)
    ways = {
        "4 whole units": replay.uniform(4, 1.0),
        **{f"16 units, 1/{d}, uniform": replay.uniform(16, 1 / d) for d in (8, 16, 24, 32)},
        **{f"16 units, 1/{d}, by weight": replay.weighted(16, 1 / d) for d in (8, 16, 24, 32)},
        "4 bundles of 4, 1/8": replay.weighted(4, 1 / 8, bundled=True),
        **{f"8 bundles of 4, 1/{d}": replay.weighted(8, 1 / d, bundled=True) for d in (16, 32)},
    }
    print(f"{'':28} rows  noise")
    for name, draw in ways.items():
        drawn = [draw() for _ in range(options.draws)]
        rows = sum(rows for _, rows in drawn) / len(drawn)
        off = [float((gradient - exact).norm() ** 2) for gradient, _ in drawn]
        noise = math.sqrt(sum(off) / len(off)) / float(exact.norm())
        print(f"{name:28} {rows:4.0f} {noise:6.2f}", flush=True)


if __name__ == "__main__":
    main()
