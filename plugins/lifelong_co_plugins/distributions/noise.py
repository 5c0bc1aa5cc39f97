"""Random numbers for a whole batch, on the device of their generator."""

import attrs
import torch
from torch import Tensor


@attrs.frozen
class Noise:
    """A source of float32 random tensors.

    Parameters
    ----------
    generator
        Where the numbers come from, and whose device they live on; None: torch's default
        generator, on the CPU.
    """

    generator: torch.Generator | None = None

    @property
    def device(self) -> torch.device:
        """The device of everything drawn."""
        return torch.device("cpu") if self.generator is None else self.generator.device

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Return U(low, high)."""
        unit = torch.rand(shape, generator=self.generator, device=self.device, dtype=torch.float32)
        return unit if (low, high) == (0.0, 1.0) else unit * (high - low) + low

    def normal(self, *shape: int) -> Tensor:
        """Return N(0, 1)."""
        return torch.randn(shape, generator=self.generator, device=self.device, dtype=torch.float32)

    def exponential(self, *shape: int, rate: float) -> Tensor:
        """Return Exp(rate)."""
        empty = torch.empty(shape, device=self.device, dtype=torch.float32)
        return empty.exponential_(generator=self.generator) / rate

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Return whole numbers, uniform in low … high, both included, in floating point."""
        whole = torch.randint(low, high + 1, shape, generator=self.generator, device=self.device)
        return whole.float()

    def coin(self, *shape: int) -> Tensor:
        """Return bool, true in half of the cases."""
        return self.uniform(*shape) > 0.5
