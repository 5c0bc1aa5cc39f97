"""A program that `test_decoding.py` runs: it prints the growth of its peak memory, in MiB."""

import sys
from pathlib import Path

import torch
from tiny_runs import MODEL

import lifelong_co as lco


def peak() -> float:
    """Return the peak memory of this process, in MiB; `getrusage` would give its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**10


@torch.no_grad()
def solving(n: int) -> None:
    """Solve one instance from every node, after a smaller one."""
    solver = lco.solver("pomo", problem="tsp", **MODEL)
    for size in (n // 4, n):
        before = peak()
        solver.rollout(lco.distribution("U", problem="tsp").sample(1, size))
    print(peak() - before)


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"solving": solving}[sys.argv[1]](int(sys.argv[2]))
