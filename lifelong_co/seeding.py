"""Independent random streams: one for each pair of a seed and a name.

Drawing more weights must not change which instances are drawn; so every purpose ("weights",
"instances", "actions", "replay", …) has another stream, fixed by the run's seed and its name.
"""

import hashlib
import random
from typing import Any

import numpy as np
import torch

from lifelong_co.errors import ConfigError

WORDS = 4  # 32-bit words of the name's hash


def python_seed(seed: int, purpose: str) -> int:
    """Return the seed of a stream, in ``[0, 2**63)``, e.g. for `random.Random`.

    Parameters
    ----------
    seed
        The run's seed, at least 0, without an upper limit.
    purpose
        The name of the stream.

    Raises
    ------
    ConfigError
        If the seed is negative.
    """
    if seed < 0:
        raise ConfigError(f"seed: expected at least 0, got {seed}")
    digest = hashlib.sha256(purpose.encode()).digest()
    words = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4", count=WORDS))
    sequence = np.random.SeedSequence(seed, spawn_key=words)
    return int(sequence.generate_state(1, np.uint64)[0]) >> 1


def generator(seed: int, purpose: str, device: torch.device | str = "cpu") -> torch.Generator:
    """Return a new generator on ``device`` for a purpose; see `python_seed`.

    The same seed and purpose give other numbers on another kind of device.
    """
    return torch.Generator(device).manual_seed(python_seed(seed, purpose))


def restore(stream: random.Random, state: Any) -> None:
    """Set a stream to a state from `random.Random.getstate`, whose tuples may now be lists."""
    version, internal, gauss = state
    stream.setstate((version, tuple(internal), gauss))
