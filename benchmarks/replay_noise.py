"""The noise of the consolidation gradient, for several ways to replay a part of the buffer.

    python benchmarks/replay_noise.py RUN... [--draws 50] [--json FILE]

Each RUN is a finished run of llr-bc with its checkpoints, whose buffer holds bundles of four. For
each way the gradient is drawn many times at the run's last parameters. Printed are the number of
instances that a draw encodes, and the noise: the distance (root mean square) to the gradient of
hundreds of steps, divided by the norm of that gradient.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import attrs
import torch
from lifelong_co_plugins.methods.der import uniform_rows
from lifelong_co_plugins.methods.experience_replay.behaviors import behavior
from lifelong_co_plugins.methods.experience_replay.bundles import adopted
from lifelong_co_plugins.methods.experience_replay.memory import ADOPTED, Memory
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from measurement import about, store
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

    def gradient(self, replayed: Replayed) -> tuple[Tensor, int]:
        """Return the gradient of the loss, flat, and how many rows were encoded."""
        module = self.learner.solver.module
        module.zero_grad()
        for batch in replayed.of_one_size():
            now = behavior(self.learner.solver, batch)
            self.loss.unit(batch.weights, batch.teacher, now).backward()
        parts = [p.grad.flatten() for p in module.parameters() if p.grad is not None]
        return torch.cat(parts), sum(bundle.count for bundle in replayed.bundles)

    def uniform(self, k: int, share: float) -> Draw:
        """Return draws of a share of the rows of ``k`` steps, each row as likely."""
        module, stream = self.learner.solver.module, self.memory.random

        def draw() -> tuple[Tensor, int]:
            drawn = uniform_rows(module, self.memory.sample(k), share, stream)
            steps = [(step, each.rows) for each in drawn.bundles for step in each.steps]
            weights = iter(weights_of(self.loss, [step.log_probs(rows) for step, rows in steps]))
            weighed = [
                attrs.evolve(each, weights=tuple(next(weights) for _ in each.steps))
                for each in drawn.bundles
            ]
            return self.gradient(attrs.evolve(drawn, bundles=tuple(weighed)))

        return draw

    def weighted(self, k: int, share: float, *, bundled: bool = False) -> Draw:
        """Return draws by weight, of ``k`` steps alone or in as many bundles."""
        held = self.bundles if bundled else self.memory.snapshot
        weights = Weights(self.loss, share, self.memory.random)

        def draw() -> tuple[Tensor, int]:
            return self.gradient(weights.replayed(self.learner, self.memory.random.sample(held, k)))

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
    bundles, memory.snapshot = memory.snapshot, adopted(memory.snapshot, 1, ADOPTED)
    names = [config.method_options[name] for name in ("weighting", "divergence", "behavior")]
    return Replay(run.learner, memory, bundles, consolidation_loss(*names))


def ways(replay: Replay) -> dict[str, Draw]:
    """Return what is compared."""
    found = {"4 whole units": replay.uniform(4, 1.0)}
    for d in (8, 16, 24, 32):
        found[f"16 units, 1/{d}, any rows"] = replay.uniform(16, 1 / d)
    for d in (8, 16, 24, 32):
        found[f"16 units, 1/{d}, by weight"] = replay.weighted(16, 1 / d)
    for k, d in ((4, 8), (8, 16), (8, 32)):
        name = f"{k} bundles of 4, 1/{d}, by weight"
        found[name] = replay.weighted(k, 1 / d, bundled=True)
    return found


def measure(folder: Path, draws: int) -> Iterator[dict[str, Any]]:
    """Yield how many rows each way encodes in a run, and its noise."""
    replay = replay_of(folder)
    whole = replay.uniform(64, 1.0)
    exact = torch.stack([whole()[0] for _ in range(12)]).mean(dim=0)
    for way, draw in ways(replay).items():
        drawn = [draw() for _ in range(draws)]
        off = [float((gradient - exact).norm() ** 2) for gradient, _ in drawn]
        noise = math.sqrt(fmean(off)) / float(exact.norm())
        yield {"way": way, "rows": fmean(rows for _, rows in drawn), "noise": noise}


def main() -> None:
    """Print the noise of each way, and write it as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    made, figures = about(), []
    for folder in options.runs:
        for found in measure(folder, options.draws):
            print(f"{folder} {{way:36}} {{rows:4.0f}} {{noise:6.2f}}".format(**found), flush=True)
            figures.append({"seed": read_config(folder).seed, **found})
    store(options.json, made, figures)


if __name__ == "__main__":
    main()
