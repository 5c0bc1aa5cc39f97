"""Third-party plugins for the fork that calls it, as ``pip install`` would make them."""

import importlib
import os
import sys
from pathlib import Path

from lifelong_co import registry


def install(place: Path, source: str, name: str = "trial_plugin", *, load: bool = True) -> None:
    """Write a module that is an entry point; load all plugins of this process again, or later."""
    info = place / "plugins" / f"{name}-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[lifelong_co]\n{name} = {name}\n")
    (info.parent / f"{name}.py").write_text(source)
    sys.path.insert(0, str(info.parent))
    sys.dont_write_bytecode = True  # the next trial writes another source
    importlib.invalidate_caches()
    os.environ.pop("LIFELONG_CO_LOAD_PLUGINS", None)
    registry.reload()
    if load:
        registry.components()
