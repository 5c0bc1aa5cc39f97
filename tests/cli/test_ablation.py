"""`lifelong-co run --ablation`."""

import tomllib

import pytest
from command_line import REPLAY, SMALL, call

TASKS = """
epochs = 1
batches = 1
batch_size = 2
[[tasks]]
distribution = "U"
size = 5
[[tasks]]
distribution = "U"
size = 6
"""


@pytest.fixture
def tasks(tmp_path):
    """Return a file of two tiny tasks."""
    file = tmp_path / "tasks.toml"
    file.write_text(TASKS)
    return f"--tasks={file}"


def test_run_folder_names_the_ablation_and_its_options(tmp_path, tasks):
    """The configuration holds the name of the ablation and the options that it sets."""
    folder = tmp_path / "run"
    done = call("run", "--ablation=IB", tasks, *SMALL, f"--out={folder}")
    assert done.status == 0, done.err
    options = tomllib.loads((folder / "config.toml").read_text())["method_options"]
    meant = {"ablation": "IB", "bundle_size": 0, "buffer_size": 20, "replay_size": 1}
    assert options.items() >= meant.items()


def test_option_that_contradicts_the_ablation_is_refused(tmp_path, tasks):
    """The error names both; nothing is written."""
    folder = tmp_path / "run"
    size = f"--buffer-size={REPLAY['buffer_size']}"
    done = call("run", "--ablation=IB", size, tasks, *SMALL, f"--out={folder}")
    assert done.status == 2
    assert "'IB' is buffer_size = 20" in done.err
    assert "got buffer_size = 8" in done.err
    assert not folder.exists()
