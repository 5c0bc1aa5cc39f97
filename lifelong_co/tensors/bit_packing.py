"""Packing of booleans, eight to a byte: bit ``i`` of a byte is element ``i`` of its eight.

On the CPU numpy does it, two to five times as fast as torch; on other devices torch does.
"""

import numpy as np
import torch
from torch import Tensor

BITS = 8


def pack_bits(flags: Tensor) -> Tensor:
    """Pack bool ``[..., A]`` into a new tensor, uint8 ``[..., ceil(A / 8)]``."""
    if flags.device.type == "cpu":
        return torch.from_numpy(np.packbits(flags.numpy(), axis=-1, bitorder="little"))
    return pack_on_device(flags)


def unpack_bits(octets: Tensor, width: int) -> Tensor:
    """Return the bool ``[..., A]`` of which `pack_bits` made ``octets``, with ``A = width``."""
    if octets.device.type == "cpu":
        flags = np.unpackbits(octets.numpy(), axis=-1, count=width, bitorder="little")
        return torch.from_numpy(flags).view(torch.bool)
    return unpack_on_device(octets, width)


def pack_on_device(flags: Tensor) -> Tensor:
    """Do what `pack_bits` does, by torch on any device."""
    padded = torch.nn.functional.pad(flags, (0, -flags.shape[-1] % BITS))
    octets: Tensor = padded.unflatten(-1, (padded.shape[-1] // BITS, BITS)).to(torch.uint8)
    return (octets * place_values(flags.device)).sum(dim=-1, dtype=torch.uint8)


def unpack_on_device(octets: Tensor, width: int) -> Tensor:
    """Do what `unpack_bits` does, by torch on any device."""
    bits: Tensor = (octets[..., None] & place_values(octets.device)).bool()
    return torch.flatten(bits, -2)[..., :width]


def place_values(device: torch.device) -> Tensor:
    """Return ``1, 2, 4 … 128``, uint8 ``[8]``."""
    return 2 ** torch.arange(BITS, dtype=torch.uint8, device=device)
