"""Invented official codebases, and the global state that importing them could change."""

import os
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import torch

SHARED = ("model", "utils", "encoder")


def write(root: Path, files: dict[str, str]) -> Path:
    """Write a codebase."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def process():
    """Return all global state that an import could change."""
    numpy_state = np.random.get_state()
    return {
        "path": list(sys.path),
        # torch and numpy import some of their modules at the first use
        "public": {
            name
            for name in sys.modules
            if not name.startswith(("_lifelong_co_official_", "torch.", "numpy."))
        },
        "shared": [sys.modules.get(name) for name in SHARED],
        "bytecode": sys.dont_write_bytecode,
        "folder": os.getcwd(),
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "tensor": torch.empty(0).type(),
        "gradients": torch.is_grad_enabled(),
        "random": random.getstate(),
        "numpy": (numpy_state[0], numpy_state[1].tolist(), *numpy_state[2:]),
        "torch": torch.get_rng_state().tolist(),
        "filters": list(warnings.filters),
    }
