"""The third-party plugins of the components that a configuration names: they make its steps."""

from collections.abc import Iterator

from lifelong_co.config.run_config import Config
from lifelong_co.errors import LifelongError
from lifelong_co.registry.catalog import Entry
from lifelong_co.registry.entry_points import OURS
from lifelong_co.registry.finding import find
from lifelong_co.runs.code_hash import code

IN_OPTIONS = ("weighting", "divergence", "buffer")
"""The kinds of components that options of a method name."""


def plugins_used(config: Config) -> dict[str, str]:
    """Return version and code of each plugin that is not ours, by owner: ``{"mine": "0.1 3f2a…"}``.

    The code is a hash of all that the plugin consists of (`code_hash.code`), whatever part of it
    the run uses; a notebook has no file.
    """
    found: dict[str, dict[str, None]] = {}
    for entry in _entries(config):
        owner = found.setdefault(entry.component.owner, {entry.component.version: None})
        owner[code(entry)] = None
    return {owner: " ".join(filter(None, texts)) for owner, texts in found.items()}


def _entries(config: Config) -> Iterator[Entry]:
    named = [(kind, getattr(config, kind)) for kind in ("problem", "solver", "method", "objective")]
    named.append(("sampler", config.problem))
    tasks = [*config.tasks, *(task.former for task in config.tasks if task.drift_from)]
    named += [("distribution", task.distribution) for task in tasks if task.distribution]
    if any(task.files or task.test_files for task in tasks):
        named.append(("file_format", config.problem))
    texts = [value for value in config.method_options.values() if isinstance(value, str)]
    named += [(kind, text) for kind in IN_OPTIONS for text in texts]
    for kind, name in named:
        try:
            entry = find(kind, name)
        except LifelongError:  # an option that names no component
            continue
        if entry.component.owner != OURS:
            yield entry
