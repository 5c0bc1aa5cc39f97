"""Names of what was varied, as the paper has them: ``-α(10)``, ``-|B|(250)``, ``-nEW``."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lifelong_co.config.ablations import ABLATIONS
from lifelong_co.config.presets import preset
from lifelong_co.config.run_config import Config
from lifelong_co.errors import UnknownNameError
from lifelong_co.experiments.comparison.labels import UNLIKE, settings

METHODS = (
    *("li-inter", "li-intra", "feng", "restart", "fine-tuning", "ewc", "libog", "der++"),
    *("multi-task-epoch", "multi-task-batch"),
)
"""The order of the paper's tables; others follow, and ``llr-bc`` comes last."""

SYMBOLS = {"replay_size": "|E|", "buffer_size": "|B|", "alpha": "α"}
"""The paper's symbols of options, in the order of its table."""

ROWS = (*SYMBOLS.values(), "nEW", "EE", "Res", "KLD", "Ent", "T2M", "IB")
"""The order of the paper's table of hyperparameters and ablations."""

MOST = 3
"""Differences named before the rest is left out."""


def rank(method: str) -> int:
    """Return where a method stands in a table."""
    if method == "llr-bc":
        return len(METHODS) + 1
    return METHODS.index(method) if method in METHODS else len(METHODS)


def row_rank(name: str) -> tuple[int, float]:
    """Return where a variant stands in the table of hyperparameters and ablations."""
    symbol, _, value = name.removeprefix("-").partition("(")
    try:
        number = float(value.rstrip(")"))
    except ValueError:
        number = 0.0
    return (ROWS.index(symbol) if symbol in ROWS else len(ROWS), number)


def traits(config: Config) -> dict[str, Any]:
    """Return the settings that runs of one variant share, whatever their order and seed."""
    flat = settings(config)
    # In another order a task drifts from another one; that it does is what they share.
    drifting = any(task.drift_from for task in config.tasks)
    names = [*UNLIKE, "order"]
    names += [key for key in flat if key.startswith("tasks.") and key.endswith(".drift_from")]
    return {k: v for k, v in flat.items() if k not in names} | {"drift": drifting}


def identity(config: Config) -> str:
    """Return what tells one variant from another."""
    return repr(sorted(traits(config).items()))


def main_variant(variants: Sequence[Sequence[Config]]) -> int:
    """Return which of a method's variants, given by their runs, is the method as it is.

    That is the one with the preset's own options; among several, or if there is none, the one with
    most runs.
    """

    def merit(configs: Sequence[Config]) -> tuple[bool, int]:
        return configs[0].method_options == _usual(configs[0]), len(configs)

    # `max` takes the first of equals.
    return max(range(len(variants)), key=lambda i: merit(variants[i]))


def _usual(config: Config) -> Mapping[str, Any]:
    try:
        return preset(config.preset).method_options.get(config.method, {})
    except UnknownNameError:  # of a run that was set up in Python
        return {}


def variant_name(config: Config, usual: Config) -> str:
    """Return how a variant differs from the method as it is, e.g. ``-nEW`` or ``-α(10)``."""
    mine, theirs = traits(config), traits(usual)
    changed = {
        key: mine.get(key, "none")
        for key in dict.fromkeys([*mine, *theirs])
        if repr(mine.get(key)) != repr(theirs.get(key))
    }
    parts = _ablations(config, usual, changed)
    shown: dict[str, None] = {}  # an option that all tasks share is told once
    for key, value in changed.items():
        short = key.rpartition(".")[2]
        text = f"{value:g}" if isinstance(value, float) else str(value)
        shown[f"-{SYMBOLS.get(short, short)}({text})"] = None
    parts += shown
    return " ".join(parts[:MOST]) + (" ..." if len(parts) > MOST else "")


def _ablations(config: Config, usual: Config, changed: dict[str, Any]) -> list[str]:
    """Take the settings that make an ablation out of ``changed``; return its name."""
    options = config.method_options
    known = ABLATIONS.get(config.method, {})
    alias = options.get("ablation", "")
    names = [alias] if alias in known else list(known)
    found = []
    for name in names:
        told = {k: v for k, v in known[name].items() if usual.method_options.get(k) != v}
        if told and all(options.get(k) == v for k, v in told.items()):
            found.append(f"-{name}")
            for key in (*known[name], "ablation"):
                changed.pop(f"method_options.{key}", None)
    return found


def order_name(config: Config) -> str:
    """Return the number of the paper's order, or the name of the file that lists the tasks."""
    return config.order if config.order.isdigit() else Path(config.order).stem or config.order


def order_title(name: str) -> str:
    """Return how text speaks of an order."""
    return f"order {name}" if name.isdigit() else name


def file_name(text: str) -> str:
    """Return text as part of a file's name."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-") or "runs"


def order_rank(name: str) -> tuple[int, int, str]:
    """Return where an order stands: the paper's first, by number."""
    return (0, int(name), "") if name.isdigit() else (1, 0, name)
