"""Where the official code is: tests that run it are skipped, with one reason, where it is not."""

import pytest
from lifelong_co_adapters.official.locate import place, present
from lifelong_co_adapters.official.upstreams import UPSTREAMS

# LLR-BC's code is run by no solver.
RUN = [name for name in UPSTREAMS if name != "LLR-BC"]
MISSING = [name for name in RUN if not present(place(name))]

REASON = f"no official code of {', '.join(MISSING)}; `lifelong-co upstream fetch` brings it"

official = pytest.mark.skipif(bool(MISSING), reason=REASON)
"""Marks one test or case that runs official code."""


def whole_module_runs_official_code() -> None:
    """Skip the module that calls this at its top, all at once, where there is no official code."""
    if MISSING:
        pytest.skip(REASON, allow_module_level=True)
