"""Random images are refused at the start where they would change the lengths of files."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from tiny_runs import tiny_config

from lifelong_co.errors import ConfigError
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start


@pytest.mark.parametrize("use", ["images", "augment", ""])
def test_files_with_another_distance_are_refused_before_the_first_task(
    tmp_path: Path, use: str
) -> None:
    """Else the run would end after the first task, and could never go on."""
    for name, distance in (("manhattan", {"distance": np.array("manhattan")}), ("plain", {})):
        nodes = np.random.default_rng(0).random((4, 5, 2), dtype=np.float32)
        np.savez(tmp_path / f"{name}.npz", nodes=nodes, **distance)
    config = tiny_config("fine-tuning", sizes=(5, 5))
    settings: dict[str, Any] = {"symmetries": "random"} | ({use: True} if use else {})

    def with_files(name: str) -> Any:
        files = {"distribution": "", "size": 0, "files": str(tmp_path / f"{name}.npz")}
        last = attrs.evolve(config.tasks[1], **files)
        return attrs.evolve(config, tasks=(config.tasks[0], last), **settings)

    start(with_files("plain"), RunFolder(tmp_path))
    if not use:
        start(with_files("manhattan"), RunFolder(tmp_path))
        return
    with pytest.raises(ConfigError, match="files of task manhattan, got 'random'"):
        start(with_files("manhattan"), RunFolder(tmp_path))
