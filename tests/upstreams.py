"""The official code in tests: tests that run it are skipped, with a reason, if it is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lifelong_co_adapters.official.locate import place, present
from lifelong_co_adapters.official.upstreams import UPSTREAMS

# No solver runs the code of LLR-BC.
RUN = [name for name in UPSTREAMS if name != "LLR-BC"]
MISSING = [name for name in RUN if not present(place(name))]

REASON = f"no official code of {', '.join(MISSING)}; `lifelong-co upstream fetch` downloads it"

official = pytest.mark.skipif(bool(MISSING), reason=REASON)
"""Marks one test or case that runs official code."""

LLR_BC = place("LLR-BC")
llr_bc = pytest.mark.skipif(not present(LLR_BC), reason="no official code of LLR-BC")
"""Marks one test that runs code of LLR-BC."""


def driven(driver: str, problem: str, folder: Path) -> Any:
    """Return what a driver of tests/ writes; it is another process, because it changes torch."""
    found = folder / "found.json"
    command = [sys.executable, str(Path(__file__).with_name(driver)), str(LLR_BC)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, problem, str(found)], check=True, env=environment)
    return json.loads(found.read_text())
