"""The figures of studies in README and documentation are those of the stored runs."""

import os
import subprocess
import sys

from paths import ROOT


def test_no_table_is_stale():
    """`page.py` would write the same tables."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "page.py", "--check"],
        capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
