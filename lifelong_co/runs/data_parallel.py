"""Several processes that learn one run together, each on its share of every batch.

Gradients are averaged before every step, as DistributedDataParallel does; not by it, since a step
calls `encode` and `log_probs` many times and goes backward more than once, which it does not allow.
Parameters are then the same in all processes. Streams of instances and actions differ from process
to process, and so do buffers: the units of each hold its share of a batch's rows.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import torch
from torch import distributed
from torch.nn import Parameter

from lifelong_co.errors import ConfigError


@attrs.frozen
class Ranks:
    """A process among those that learn together."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the process that tests, reports and writes the run's files."""
        return self.rank == 0

    def stream(self, purpose: str) -> str:
        """Return the name of this process's own stream for a purpose."""
        return purpose if self.first else f"{purpose}, rank {self.rank}"

    def share(self, batch_size: int) -> int:
        """Return how many instances of a batch are this process's.

        Raises
        ------
        ConfigError
            If they cannot be shared equally.
        """
        if batch_size % self.count:
            raise ConfigError(
                f"batch_size: expected a multiple of the {self.count} processes, got {batch_size}"
            )
        return batch_size // self.count

    def place(self, checkpoints: Path) -> Path:
        """Return where this process keeps its checkpoints."""
        return checkpoints if self.first else checkpoints / f"rank-{self.rank}"

    def average(self, parameters: Iterable[Parameter]) -> None:
        """Replace every gradient by its mean over the processes; frozen parameters have none."""
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
        """Return whether any process says yes; each has to ask."""
        return bool(self.highest(int(mine)))

    def highest(self, mine: int) -> int:
        """Return the highest of all processes' numbers."""
        if self.count == 1:
            return mine
        number = torch.tensor(mine)
        distributed.all_reduce(number, op=distributed.ReduceOp.MAX)
        return int(number)

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.highest(0)


ALONE = Ranks()
"""One process that does all."""


@contextmanager
def joined(device: str = "cpu") -> Iterator[Ranks]:
    """Within the block, this process is among those that ``torchrun`` has started.

    Without it (no ``WORLD_SIZE`` in the environment, or 1) the process is alone. On the device
    ``cuda`` each has the GPU of its local rank.

    Raises
    ------
    ConfigError
        If the environment is not torchrun's.
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
            f"WORLD_SIZE is {count}: expected {', '.join(missing)} beside it, as torchrun sets them"
        )
    on_gpus = device.startswith("cuda")
    if on_gpus:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    # gloo, too, for what the processes agree on.
    distributed.init_process_group("cpu:gloo,cuda:nccl" if on_gpus else "gloo")
    try:
        yield Ranks(rank=distributed.get_rank(), count=distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
