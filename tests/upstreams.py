"""The official code in tests: tests that run it are skipped, with a reason, if it is missing."""

import pytest
from lifelong_co_adapters.official.locate import place, present
from lifelong_co_adapters.official.upstreams import UPSTREAMS

# No solver runs the code of LLR-BC.
RUN = [name for name in UPSTREAMS if name != "LLR-BC"]
MISSING = [name for name in RUN if not present(place(name))]

REASON = f"no official code of {', '.join(MISSING)}; `lifelong-co upstream fetch` downloads it"

official = pytest.mark.skipif(bool(MISSING), reason=REASON)
"""Marks one test or case that runs official code."""
