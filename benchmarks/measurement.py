"""What a benchmark measured, with its machine and commit: ``results/NAME.json``."""

import json
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from lifelong_co.runs.provenance import processor
from lifelong_co.storage.files import write_whole

RESULTS = Path(__file__).parent / "results"
Figures = Sequence[dict[str, Any]]


def about() -> dict[str, object]:
    """Return machine, versions and commit.

    Call it before a result is written: that changes the checkout.
    """
    command = ["git", "-c", "diff.ignoreSubmodules=dirty", "describe", "--always", "--dirty"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:  # a machine without git
        commit = ""
    return {
        "commit": commit.strip(),
        "machine": platform.platform(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "cpu": processor(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def store(file: Path | None, made: dict[str, object], figures: Figures) -> None:
    """Write a measurement, if a file is given."""
    if file is not None:
        write_whole(file, json.dumps({**made, "figures": list(figures)}, indent=1) + "\n")


def read(name: str) -> dict[str, Any]:
    """Return the stored measurement of ``NAME.py``."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found
