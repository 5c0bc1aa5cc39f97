"""What two processes do in `test_ranks.py`: `torchrun … ranked_runs.py FOLDER MODE …`."""

import sys
from pathlib import Path

import torch
from tiny_runs import tiny_config
from torch import distributed

from lifelong_co import records, registry
from lifelong_co.learner import Interrupted, learn
from lifelong_co.ranks import Ranks, joined
from lifelong_co.reinforce import shared_baseline

OPTIONS = {"buffer_size": 6, "replay_size": 2, "replay_rows": 0.5}


def whole(ranks: Ranks, folder: Path) -> None:
    """Learn from the beginning to the end."""
    learn(tiny_config(**OPTIONS), folder / "whole", ranks=ranks)


def stopped(ranks: Ranks, folder: Path) -> None:
    """Stop after six steps because the second process wants to, and go on."""
    asked = iter(range(1, 10**6))
    try:
        learn(
            tiny_config(**OPTIONS),
            folder / "stopped",
            ranks=ranks,
            stop=lambda: next(asked) == 6 and not ranks.first,
        )
    except Interrupted:
        learn(tiny_config(**OPTIONS), folder / "stopped", ranks=ranks, resume=True)


def gradients(ranks: Ranks, folder: Path) -> None:
    """Average the gradients of half a batch each, in double precision, and keep them."""
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
    assert frozen.grad is None  # Adam would let one of zero decay
    found = [p.grad for p in solver.module.parameters() if p.grad is not None]
    torch.save(torch.cat([g.flatten() for g in found]), folder / f"{ranks.count}-{ranks.rank}.pt")


if __name__ == "__main__":
    with joined() as ranks:
        folder = Path(sys.argv[1])
        for mode in sys.argv[2:]:
            {"whole": whole, "stopped": stopped, "gradients": gradients}[mode](ranks, folder)
        if distributed.is_initialized():
            ranks.wait()
