"""The device that a user names."""

import re

import torch

from lifelong_co.errors import ConfigError


def chosen_device(name: str | torch.device, label: str = "device") -> str:
    """Return the torch device for ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.

    Parameters
    ----------
    name
        ``auto`` is a GPU if there is one, otherwise the CPU. It may be a `torch.device`.
    label
        The name of the setting; an error begins with it.

    Raises
    ------
    ConfigError
        If this machine has no such device.
    """
    name = str(name) if isinstance(name, torch.device) else name
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    expected = f"{label}: expected auto, cpu, cuda or cuda:1, …, got {name!r}"
    if not isinstance(name, str) or not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise ConfigError(expected)
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{expected}, which is not here ({reason})") from error
    return name
