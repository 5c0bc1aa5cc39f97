"""A short form of the trial bench: a few trials, none of which may fail.

`cli/test_failures.py` has a full disk and two processes, which take longer here.
"""

import json
import subprocess
import sys

from paths import ROOT

COUNTS = {
    "kills": 1,
    "damage": 2,
    "numbers": 4,
    "plugins": 1,
    "inputs": 100,
    "commands": 5,
}


def test_each_trial_has_one_of_the_four_ends(tmp_path):
    """The program prints each failure with the command that repeats it."""
    trials = [f"{kind}={count}" for kind, count in COUNTS.items()]
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "trials", *trials, "--json", tmp_path / "t.json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "t.json").read_text())
    assert {kind: each["trials"] for kind, each in found.items()} == COUNTS
    assert all(sum(each["ends"].values()) == each["trials"] for each in found.values())
