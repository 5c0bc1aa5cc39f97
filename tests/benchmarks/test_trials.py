"""A short form of the trial bench: a few trials of each kind, none of which may fail."""

import json
import subprocess
import sys

from paths import ROOT

COUNTS = {
    "kills": 2,
    "damage": 6,
    "disk": 2,
    "two": 1,
    "numbers": 2,
    "plugins": 3,
    "inputs": 150,
    "commands": 12,
}


def test_few_trials_of_each_kind_have_one_of_the_four_ends(tmp_path):
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
