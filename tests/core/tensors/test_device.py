"""The device that a user names."""

import pytest
import torch

from lifelong_co.errors import ConfigError
from lifelong_co.tensors.device import chosen_device


def test_known_device_is_returned():
    """``auto`` is a GPU if there is one."""
    assert chosen_device("cpu") == "cpu"
    assert chosen_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:99", ""])
def test_other_device_is_refused(name):
    """The error begins with the name of the setting."""
    with pytest.raises(ConfigError, match=r"^--device: expected auto, cpu"):
        chosen_device(name, "--device")
