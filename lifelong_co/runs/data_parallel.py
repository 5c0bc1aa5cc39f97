"""Several processes that learn one run together, each on its share of every batch.

Gradients are averaged over the processes before every step, so the parameters are the same in all
processes. torch's DistributedDataParallel does the same but cannot be used here: a step calls
`encode` and `log_probs` many times and has several backward passes, and DistributedDataParallel
allows neither. Each process has random streams of instances and actions that differ from those of
the others. Each also has a buffer; the units in it hold the process's share of a batch.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import attrs
import torch

# Before a group exists: this module binds the group that it finds as a default argument. torch's
# optimizers import it late; the group then outlives `destroy_process_group`, and its threads can
# abort the process at exit.
import torch.distributed.nn
from torch import distributed
from torch.nn import Parameter

from lifelong_co.errors import ConfigError
from lifelong_co.tasks.task import Task


@attrs.frozen
class Ranks:
    """One process among those that learn a run together."""

    rank: int = 0
    """Number of this process, from 0."""
    count: int = 1
    """Number of processes."""

    @property
    def first(self) -> bool:
        """Whether this is the first process, which tests, reports and writes the run's files."""
        return self.rank == 0

    def stream(self, purpose: str) -> str:
        """Return the name of this process's random stream for a purpose."""
        return purpose if self.first else f"{purpose}, rank {self.rank}"

    def share(self, batch_size: int, name: str = "batch_size") -> int:
        """Return this process's number of instances of a batch; ``name`` is the setting.

        Raises
        ------
        ConfigError
            If the batch size is not a multiple of the number of processes.
        """
        if batch_size % self.count:
            raise ConfigError(
                f"{name}: expected a multiple of the {self.count} processes, got {batch_size}"
            )
        return batch_size // self.count

    def place(self, checkpoints: Path) -> Path:
        """Return the folder of this process's checkpoints."""
        return checkpoints if self.first else checkpoints / f"rank-{self.rank}"

    def average(self, parameters: Iterable[Parameter]) -> None:
        """Replace every gradient by its mean over the processes; skip frozen parameters."""
        if self.count == 1:
            return
        held = [parameter for parameter in parameters if parameter.requires_grad]
        for parameter in held:  # all processes must send the same shapes
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in held if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= self.count
        for gradient, mean in zip(
            gradients, flat.split([g.numel() for g in gradients]), strict=True
        ):
            gradient.copy_(mean.view_as(gradient))

    def any(self, mine: bool) -> bool:
        """Return whether ``mine`` is True in any process; every process must call this."""
        return bool(self.highest(int(mine)))

    def highest(self, mine: int) -> int:
        """Return the highest ``mine`` of all processes; every process must call this."""
        if self.count == 1:
            return mine
        number = torch.tensor(mine)
        distributed.all_reduce(number, op=distributed.ReduceOp.MAX)
        return int(number)

    def wait(self) -> None:
        """Wait until every process has called this."""
        self.highest(0)


ALONE = Ranks()
"""A run that one process learns."""


def shared(task: Task, ranks: Ranks) -> Task:
    """Return the task with this process's shares of its batches."""
    last = task.last_batch_size
    return attrs.evolve(
        task,
        batch_size=ranks.share(task.batch_size),
        last_batch_size=None if last is None else ranks.share(last, "last_batch_size"),
    )


@contextmanager
def joined(device: str = "cpu") -> Iterator[Ranks]:
    """Connect this process, within the block, to the others that ``torchrun`` has started.

    Without torchrun (``WORLD_SIZE`` is 1 or not set) the process is alone. On the device ``cuda``
    each process uses the GPU of its local rank.

    Raises
    ------
    ConfigError
        If ``WORLD_SIZE`` is above 1 and other variables of torchrun are missing, or the device is
        one of several GPUs.
    """
    count = os.environ.get("WORLD_SIZE", "1")
    if count == "1":
        yield ALONE
        return
    missing = [
        name
        for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
        if name not in os.environ
    ]
    if missing:
        raise ConfigError(
            f"WORLD_SIZE is {count}: expected also {', '.join(missing)}, as torchrun sets them;"
            " start the processes with torchrun"
        )
    on_gpus = device.startswith("cuda")
    if on_gpus:
        if device != "cuda":
            raise ConfigError(
                f"device: with WORLD_SIZE {count} expected cuda, so that each process uses the GPU"
                f" of its local rank, got {device!r}"
            )
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    # gloo as well: `Ranks.highest` exchanges numbers on the CPU.
    # The first process tests while the others wait: longer than the half hour of torch's default.
    backend = "cpu:gloo,cuda:nccl" if on_gpus else "gloo"
    distributed.init_process_group(backend, timeout=timedelta(days=7))
    try:
        yield Ranks(rank=distributed.get_rank(), count=distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
