"""A study is done, stored, and not done twice."""

import os
import re
import subprocess
import sys

from paths import ROOT

TASKS = """
[[tasks]]
distribution = "U"
size = 5
epochs = 1
batches = 1
batch_size = 4
"""
FILE = """
preset = "demo"
problems = ["tsp"]
device = "cpu"
tests = 4
tasks = ["tasks.toml"]
methods = ["fine-tuning"]
"""


def test_the_missing_runs_are_done_and_stored(tmp_path):
    """The second call only prints the same table."""
    (tmp_path / "tasks.toml").write_text(TASKS)
    (tmp_path / "tiny.toml").write_text(FILE)

    def call():
        script = [sys.executable, ROOT / "benchmarks" / "table.py", "tiny.toml"]
        places = ["--runs", "runs", "--results", "results/tiny.csv"]
        done = subprocess.run(
            [*script, *places], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = call()
    stored = (tmp_path / "results" / "tiny.csv").read_bytes()
    assert stored.count(b"\n") == 2
    second = call()
    assert "1 of 1 runs to do" in first
    assert "0 of 1 runs to do" in second
    assert first.split("\n\n", 1)[1] == second.split("\n\n", 1)[1]
    assert (tmp_path / "results" / "tiny.csv").read_bytes() == stored
    (tmp_path / "tiny.toml").write_text(FILE + 'seeds = "0,2"\n')
    same = call()
    assert "1 of 2 runs to do" in same
    assert "note:" not in first + second + same
    stored = (tmp_path / "results" / "tiny.csv").read_bytes()
    (tmp_path / "results" / "tiny.csv").write_bytes(
        re.sub(rb"(seed\d),\w+\+?,", rb"\1,0a1b2c,", stored)
    )
    (tmp_path / "tiny.toml").write_text(FILE + 'seeds = "0-1"\n')
    third = call()
    assert "1 of 2 runs to do" in third
    assert "note: the stored runs are of another commit, 0a1b2c" in third


def test_a_device_that_is_not_here_is_refused_before_a_run_begins(tmp_path):
    """The error names the option and the device; nothing is written."""
    (tmp_path / "tiny.toml").write_text(FILE)
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "table.py", "tiny.toml", "--device", "cuda"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert done.returncode == 2
    assert "error: --device: " in done.stderr
    assert "'cuda', which is not here" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]
