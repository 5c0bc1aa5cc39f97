"""Run folders that hold parameters to start from, and no lifelong run."""

import shlex
from pathlib import Path

from lifelong_co.config import Config
from lifelong_co.errors import ConfigError

STARTS = {
    "reptile": "pretrained parameters",
    "fomaml": "pretrained parameters",
    "maml": "pretrained parameters",
    "import-checkpoint": "imported parameters",
}
"""What the folder holds, by the ``method`` of its configuration."""


def refuse_start(config: Config, folder: Path) -> None:
    """Refuse such a folder where a lifelong run is wanted.

    Raises
    ------
    ConfigError
        If it is one; the message says what can be done with it.
    """
    if config.method not in STARTS:
        return
    place = shlex.quote(str(folder))
    more = ""
    if STARTS[config.method] == "pretrained parameters":
        more = f", or go on pretraining with: lifelong-co pretrain --resume {place}"
    raise ConfigError(
        f"{folder}: expected a lifelong run, got {STARTS[config.method]} ({config.method}); start"
        f" a run from them with: lifelong-co run --start-from {place}{more}"
    )
