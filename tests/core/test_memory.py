"""Memory: decoding does not grow with its steps."""

import os
import subprocess
import sys

from paths import PROGRAMS

PROGRAM = PROGRAMS / "memory_use.py"


def test_memory_of_solving_is_bounded_over_many_steps() -> None:
    """500 trajectories of 500 actions: 21 MiB here; 100 if the tensor of each action stays."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "solving", "500"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROGRAM.parent)},
    )
    assert float(done.stdout) < 50
