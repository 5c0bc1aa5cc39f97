"""A sweep that is killed with all its runs ends with the same table."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import MODEL, REPLAY, results
from paths import PROGRAMS

TASKS = """
epochs = 2
batches = 3
batch_size = 4
[[tasks]]
distribution = "U"
size = 6
[[tasks]]
distribution = "E"
size = 5
"""


@pytest.fixture(scope="module")
def sweep_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a sweep of eight tiny runs."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "tasks.toml").write_text(TASKS)
    inline = ", ".join(f"{name} = {value}" for name, value in MODEL.items())
    options = ", ".join(f"{name} = {value}" for name, value in REPLAY.items())
    file = folder / "sweep.toml"
    file.write_text(f"""
tasks = ["tasks.toml"]
seeds = "0-1"
device = "cpu"
tests = 4
curve_every = 2
solver_options = {{{inline}}}
methods = ["fine-tuning", "ewc"]
variants = [
    {{name = "llr-bc", options = {{{options}}}}},
    {{name = "every epoch", options = {{record = "every-epoch", {options}}}}},
]
""")
    return file


def test_killed_sweep_ends_with_the_same_table(sweep_file, tmp_path):
    """SIGKILL ends eight runs and their sweep as a group; then the sweep starts again."""
    program = PROGRAMS / "forked_sweep.py"
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    done = subprocess.run(
        [sys.executable, program, sweep_file, killed, whole],
        capture_output=True,
        text=True,
        check=True,
        timeout=290,
    )
    said = done.stdout + done.stderr
    [moment] = [line for line in said.splitlines() if line.startswith("killed after")]
    assert 3 <= int(moment.split()[2]) < 8, said
    assert moment.endswith("of 8")
    assert said.splitlines().count("ended 0") == 2, said
    for name in ("table.txt", "table.csv"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert "every epoch" in (whole / "table.txt").read_text()
    runs = sorted(path.name for path in (whole / "runs").iterdir())
    assert len(runs) == 8
    for name in runs:
        assert results(killed / "runs" / name) == results(whole / "runs" / name), name
