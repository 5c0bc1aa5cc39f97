"""Short names of compared configurations: the method, and the settings that differ."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.run_config import Config
from lifelong_co.runs.settings import with_defaults
from lifelong_co.validators import plain

HEADLINE = ("solver", "preset", "order")
"""Settings that a label always names if they differ, because many others follow from them."""

UNLIKE = frozenset({"seed", "device", "curve_every", "loggers"})
"""Settings in which repetitions of one run may differ."""

MOST = 3
"""Highest number of other settings in a label; the configuration table has all of them."""


def settings(config: Config) -> dict[str, Any]:
    """Return the settings under dotted names, those of a task as ``tasks.E50.epochs``.

    Options of solver and method that the configuration lacks (older versions had fewer) have their
    defaults.
    Options of the objective are left out if they have their defaults, so that labels are short.
    """
    flat: dict[str, Any] = {}
    for key, value in attrs.asdict(with_defaults(config), recurse=False).items():
        if key == "tasks":
            for task in value:
                fields = attrs.asdict(task).items()
                flat |= {f"tasks.{task.label}.{name}": item for name, item in fields}
        elif isinstance(value, Mapping):
            flat |= {f"{key}.{name}": plain(item) for name, item in value.items()}
        else:
            flat[key] = value
    return flat


def identity(config: Config) -> str:
    """Return a text that is equal for runs that differ in nothing but the seed and `UNLIKE`.

    The name of the order is left out: the tasks say it, and a task file has several paths.
    """
    shared = {k: v for k, v in settings(config).items() if k not in {*UNLIKE, "order"}}
    # The dotted names do not show the order of the tasks.
    return repr((sorted(shared.items()), [task.label for task in config.tasks]))


def label(configs: Sequence[Config]) -> list[str]:
    """Return one label per configuration, e.g. ``llr-bc (order=2)`` or ``llr-bc (alpha=10)``.

    Labels differ if any setting outside `UNLIKE` differs, unless more than `MOST` settings do.
    """
    orders = _orders(configs)
    flats = [
        {**settings(config), "order": name} for config, name in zip(configs, orders, strict=True)
    ]
    headline = [key for key in HEADLINE if _differ(flats, key)]
    heads = [
        (str(config["method"]), *(_value(config, key) for key in headline)) for config in flats
    ]
    # A setting that differs between configurations with one head is in all labels of the method.
    inner: dict[str, dict[str, None]] = {head[0]: {} for head in heads}
    for head in dict.fromkeys(heads):
        peers = [flat for flat, its in zip(flats, heads, strict=True) if its == head]
        keys = dict.fromkeys(key for peer in peers for key in peer)
        hidden = {*UNLIKE, *HEADLINE}
        inner[head[0]] |= {key: None for key in keys if key not in hidden and _differ(peers, key)}
    labels = []
    for flat, head in zip(flats, heads, strict=True):
        shown = list(inner[head[0]])
        words = [f"{_short(key, shown)}={_value(flat, key)}" for key in shown]
        parts = [f"{key}={_value(flat, key)}" for key in headline]
        parts += words[:MOST] + (["..."] if len(words) > MOST else [])
        labels.append(f"{head[0]} ({', '.join(parts)})" if parts else head[0])
    return labels


def _orders(configs: Sequence[Config]) -> list[str]:
    """Return a name of each order; a task file has several paths, so equal tasks have one name.

    If different tasks have one name, e.g. because programs gave them, they are named themselves.
    """
    by_tasks: dict[str, Config] = {}
    for config in configs:
        by_tasks.setdefault(repr(config.tasks), config)
    names = [config.order for config in by_tasks.values()]
    stems = [Path(name).stem for name in names]

    def name(config: Config) -> str:
        if names.count(config.order) > 1:
            return " → ".join(task.label for task in config.tasks)
        stem = Path(config.order).stem
        return stem if stems.count(stem) == 1 else config.order

    return [name(by_tasks[repr(config.tasks)]) for config in configs]


def _differ(flats: Iterable[Mapping[str, Any]], key: str) -> bool:
    return len({repr(flat.get(key)) for flat in flats}) > 1


def _short(key: str, among: Sequence[str]) -> str:
    # If several settings end in the same word (E50.epochs, C100.epochs), use the full name.
    last = key.rpartition(".")[2]
    alike = [other for other in among if other.rpartition(".")[2] == last]
    return last if len(alike) == 1 else key.removeprefix("tasks.")


def _value(flat: Mapping[str, Any], key: str) -> str:
    value = flat.get(key, "none")
    return f"{value:g}" if isinstance(value, float) else str(value) or "none"
