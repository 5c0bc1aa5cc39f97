"""The paper's names of methods, variants and orders: ``-α(10)``, ``-|B|(250)``, ``-nEW``."""

import re
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import registry
from lifelong_co.config.ablations import ABLATIONS
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison.labels import UNLIKE, settings
from lifelong_co.storage.files import short_name
from lifelong_co.tasks.task import drifting

PAPERS = "llr-bc"
"""The method of the paper. It is last in a table, and names of its variants do not contain it."""
SOLVER = "pomo"
"""The solver of the paper's main experiments."""
METHODS = (
    *("li-inter", "li-intra", "feng", "restart", "fine-tuning", "ewc", "libog", "der++"),
    *("multi-task-epoch", "multi-task-batch"),
)
"""The order of methods in the paper's tables; other methods follow, and `PAPERS` comes last."""

SYMBOLS = {"replay_size": "|E|", "buffer_size": "|B|", "alpha": "α"}
"""The paper's symbols for options, in the order of its table."""

ROWS = (*SYMBOLS.values(), "nEW", "EE", "Res", "KLD", "Ent", "T2M", "IB")
"""The order of the paper's table of hyperparameters and ablations."""

MOST = 3
"""Highest number of differences in the name of a variant."""


def rank(method: str) -> int:
    """Return the rank of a method in a table."""
    if method == PAPERS:
        return len(METHODS) + 1
    return METHODS.index(method) if method in METHODS else len(METHODS)


def row_rank(name: str) -> tuple[int, float]:
    """Return the rank of a variant in the table of hyperparameters and ablations."""
    symbol, _, value = name.removeprefix("-").partition("(")
    try:
        number = float(value.rstrip(")"))
    except ValueError:
        number = 0.0
    return (ROWS.index(symbol) if symbol in ROWS else len(ROWS), number)


def traits(config: Config) -> dict[str, Any]:
    """Return the settings that all runs of one variant share, in all orders and with all seeds."""
    flat = settings(config)
    names = [*UNLIKE, "order"]
    names += [key for key in flat if key.startswith("tasks.") and key.endswith(".drift_from")]
    return {k: v for k, v in flat.items() if k not in names} | {"drift": _drift(config)}


def _drift(config: Config) -> bool | str:
    """Return whether each task drifts from the one before; a text if other tasks drift.

    In another order a task drifts from another task; such runs are of one variant.
    """
    given = [task.drift_from for task in config.tasks]
    if not any(given):
        return False
    without = tuple(attrs.evolve(task, drift_from="") for task in config.tasks)
    try:
        usual = [task.drift_from for task in drifting(without)]
    except ConfigError:  # not every task can drift from the one before
        usual = []
    drifts = zip(config.tasks, given, strict=True)
    return given == usual or ", ".join(f"{task.label} from {of}" for task, of in drifts if of)


def identity(config: Config) -> str:
    """Return a text that is equal for runs of the same variant."""
    return repr(sorted(traits(config).items()))


def changed(config: Config, usual: Config) -> dict[str, Any]:
    """Return the traits in which a run differs from another one, with the values of the first."""
    mine, theirs = traits(config), traits(usual)
    return {
        key: mine.get(key, "none")
        for key in dict.fromkeys([*mine, *theirs])
        if repr(mine.get(key)) != repr(theirs.get(key))
    }


def variant_name(config: Config, usual: Config) -> str:
    """Return the name of a variant by its differences from the default: ``-nEW``, ``-α(10)``."""
    others = changed(config, usual)
    parts = _ablations(config, usual, others)
    shown: dict[str, None] = {}  # an option that all tasks share is named once
    for key, value in others.items():
        short = key.rpartition(".")[2]
        text = f"{value:g}" if isinstance(value, float) else str(value)
        shown[f"-{SYMBOLS.get(short, short)}({text})"] = None
    parts += shown
    more = len(parts) - MOST
    return " ".join(parts[:MOST]) + (f" and {more} more" if more > 0 else "")


def _ablations(config: Config, usual: Config, others: dict[str, Any]) -> list[str]:
    """Remove the settings of each ablation from ``others``; return the ablations' names."""
    options, its = (
        registry.all_options("method", each.method, each.method_options) for each in (config, usual)
    )
    known = ABLATIONS.get(config.method, {})
    alias = options.get("ablation", "")
    names = [alias] if alias in known else list(known)
    found = []
    for name in names:
        needed = {k: v for k, v in known[name].items() if its.get(k) != v}
        if needed and all(options.get(k) == v for k, v in needed.items()):
            found.append(f"-{name}")
            for key in (*known[name], "ablation"):
                others.pop(f"method_options.{key}", None)
    return found


def order_name(config: Config) -> str:
    """Return the number of the paper's order, or the name of the file that lists the tasks."""
    file = Path(config.order)
    if config.order.isdecimal() or not file.stem:
        return config.order
    return file.name if file.stem.isdecimal() else file.stem  # 5.toml is not the paper's order 5


def order_title(name: str) -> str:
    """Return the name of an order in a text."""
    return f"order {name}" if name.isdecimal() else name


def file_name(text: str) -> str:
    """Return text as the name of a file without its ending, or as its first part."""
    return short_name(re.sub(r"[^\w.+-]+", "-", text).strip("-") or "runs")


def order_rank(name: str) -> tuple[int, int, str]:
    """Return the rank of an order: first the paper's by number, then others by name."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)
