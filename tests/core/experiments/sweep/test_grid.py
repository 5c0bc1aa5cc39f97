"""Sweep files read, written back, and refused."""

import pytest
from synthetic_sweeps import FILE

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.grid import (
    grids_from_toml,
    grids_to_toml,
    read_grids,
)


def test_a_file_is_read_and_written_back(tmp_path):
    """Values above the tables are their defaults; what is written reads the same."""
    grids = grids_from_toml(FILE, "sweep.toml", tmp_path)
    assert [(grid.preset, grid.seeds, grid.tests) for grid in grids] == [("small", "0,1", 4)] * 2
    assert [row.name for row in grids[1].rows] == ["llr-bc", "KLD", "alpha 1"]
    assert grids_from_toml(grids_to_toml(grids), "again", tmp_path) == grids
    (tmp_path / "sweep.toml").write_text('\ufeffmethods = ["ewc"]\ntasks = ["own.toml"]')
    [grid] = read_grids(tmp_path / "sweep.toml")
    assert grid.tasks == (str(tmp_path / "own.toml"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one of methods, ablations and variants"),
        ("methods = 'llr-bc'", "methods: expected a list, got 'llr-bc'"),
        ("methods = ['ewc']\nseed = 1", "Unknown key 'seed'.*Did you mean 'seeds'"),
        ("methods = ['ewc']\nseeds = '2-1'", "runs upwards"),
        ("methods = ['ewc', 'ewc']", "'ewc' twice"),
        ("methods = ['KLD']\nablations = ['KLD']", "'KLD' twice"),
        ("methods = ['ewc']\ntests = '9'", "expected a whole number, got '9'"),
        ("methods = ['ewc']\ndevice = 'tpu'", "expected auto, cpu or cuda, got 'tpu'"),
        ("grids = 3", r"expected \[\[grids\]\] tables"),
        ("[[grid]]\nmethods = ['ewc']", "Unknown key 'grid'. Did you mean 'grids'"),
        ("methods = ['ewc']\ntasks = []", "tasks: expected at least one, or no such key, got"),
        ("methods = ['ewc']\nseeds = 0.5", "seeds: expected numbers like '0-2', got 0.5"),
        ("variants = ['kl']", r"variants\[0\]: expected a table, got 'kl'"),
        (
            "[[tasks]]\nsize = 5",
            r"got a task file; name it in a sweep file: tasks = \['mine.toml'\]",
        ),
        ("methods = [", "not valid TOML"),
    ],
)
def test_invalid_sweep_files_are_refused(text, said, tmp_path):
    """Every slip is refused, naming the file."""
    with pytest.raises(ConfigError, match=f"(?s)mine.toml.*{said}"):
        grids_from_toml(text, "mine.toml", tmp_path)
