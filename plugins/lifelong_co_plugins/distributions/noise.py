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
        The generator of the numbers, which are on its device; None: torch's default generator, on
        the CPU.
    """

    generator: torch.Generator | None = None

    @property
    def device(self) -> torch.device:
        """The device of all numbers."""
        return torch.device("cpu") if self.generator is None else self.generator.device

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Return draws of U(low, high), float32 of the given shape."""
        unit = torch.rand(shape, generator=self.generator, device=self.device, dtype=torch.float32)
        return unit if (low, high) == (0.0, 1.0) else unit * (high - low) + low

    def normal(self, *shape: int) -> Tensor:
        """Return draws of N(0, 1), float32 of the given shape."""
        return torch.randn(shape, generator=self.generator, device=self.device, dtype=torch.float32)

    def exponential(self, *shape: int, rate: float) -> Tensor:
        """Return draws of Exp(rate), float32 of the given shape."""
        empty = torch.empty(shape, device=self.device, dtype=torch.float32)
        return empty.exponential_(generator=self.generator) / rate

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Return uniform whole numbers from low to high, both included, as float32."""
        whole = torch.randint(low, high + 1, shape, generator=self.generator, device=self.device)
        return whole.float()

    def coin(self, *shape: int) -> Tensor:
        """Return draws of a fair coin, bool of the given shape."""
        return self.uniform(*shape) > 0.5
