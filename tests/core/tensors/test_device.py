"""The device that a user names."""

import attrs
import pytest
import torch
from tiny_runs import tiny_config

from lifelong_co.errors import ConfigError
from lifelong_co.evaluation import best_costs
from lifelong_co.learner import before_task, train_batch
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start
from lifelong_co.tensors.device import chosen_device


def test_known_device_is_returned():
    """``auto`` is a GPU if there is one."""
    assert chosen_device("cpu") == chosen_device(torch.device("cpu")) == "cpu"
    assert chosen_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:99", "", None, torch.device("meta")])
def test_other_device_is_refused(name):
    """The error begins with the name of the setting."""
    with pytest.raises(ConfigError, match=r"^--device: expected auto, cpu"):
        chosen_device(name, "--device")


@pytest.mark.parametrize("problem", ["cvrp", "tsp"])
@pytest.mark.parametrize("one_pass", [False, True])
def test_torchs_default_device_does_not_matter(problem, one_pass, tmp_path):
    """A run stays on its device: tensors on torch's default device, here ``meta``, would fail."""
    config = tiny_config(problem=problem, replay_rows=0.5, bundle_size=2, record="always")
    with torch.device("meta"):
        run = start(attrs.evolve(config, one_pass=one_pass), RunFolder(tmp_path / "run"))
        for run.learner.task in range(2):
            before_task(run)
            losses = train_batch(run)
        costs = best_costs(run.learner.solver, run.tests[0][0])
    assert {value.device.type for value in (*losses.values(), costs)} == {"cpu"}
    assert "consolidation" in losses
