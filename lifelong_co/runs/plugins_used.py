"""The third-party plugins that a run learns with: their code is part of what makes its steps."""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from lifelong_co.config.run_config import Config
from lifelong_co.errors import LifelongError
from lifelong_co.registry.catalog import Entry
from lifelong_co.registry.finding import find

OWN = "lifelong-co"
IN_OPTIONS = ("weighting", "divergence", "buffer")
"""The kinds of components that options of a method name."""
DIGITS = 12


def plugins_used(config: Config) -> tuple[str, ...]:
    """Return owner, version and hash of the code of each plugin that is not ours, sorted.

    An example is ``mine 0.1 (3f2a…)``. The hash is that of the file that defines the component; a
    component of a notebook has none.
    """
    return tuple(sorted({_said(entry) for entry in _entries(config)}))


def _entries(config: Config) -> Iterator[Entry]:
    named = [(kind, getattr(config, kind)) for kind in ("problem", "solver", "method", "objective")]
    named += [("distribution", task.distribution) for task in config.tasks if task.distribution]
    texts = [value for value in config.method_options.values() if isinstance(value, str)]
    named += [(kind, text) for kind in IN_OPTIONS for text in texts]
    for kind, name in named:
        try:
            entry = find(kind, name)
        except LifelongError:  # an option that names no component
            continue
        if entry.component.owner != OWN:
            yield entry


def _said(entry: Entry) -> str:
    owner = f"{entry.component.owner} {entry.component.version}".strip()
    thing = entry.thing if hasattr(entry.thing, "__module__") else type(entry.thing)
    file = getattr(sys.modules.get(thing.__module__), "__file__", None)
    if file is None:
        return owner
    return f"{owner} ({hashlib.sha256(Path(file).read_bytes()).hexdigest()[:DIGITS]})"
