"""A configuration made from a preset and what the caller gives in place of its values."""

from pathlib import Path
from typing import Any

import attrs

from lifelong_co import validators as check
from lifelong_co.config.ablations import ablated
from lifelong_co.config.former_options import translated
from lifelong_co.config.preset import Preset
from lifelong_co.config.presets import preset as find_preset
from lifelong_co.config.run_config import Config, Options, read_config
from lifelong_co.config.settings import given_settings
from lifelong_co.config.task_file import read_tasks
from lifelong_co.errors import ConfigError
from lifelong_co.tasks.orders import named_order, paper_order
from lifelong_co.tasks.task import drifting, unique_labels


def resolve(
    *,
    solver: str | None = None,
    problem: str | None = None,
    method: str | None = None,
    preset: str = "small",
    order: int | str | None = None,
    tasks_file: Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    start_from: Path | None = None,
    buffer_from: Path | None = None,
    fresh: bool = False,
    drift: bool = False,
    tests_of: str | None = None,
    solver_options: Options | None = None,
    method_options: Options | None = None,
    more_settings: Options | None = None,
    **settings: Any,
) -> Config:
    """Return a configuration made from a preset; the caller's values override the preset's.

    Parameters
    ----------
    solver, problem, method
        None: those of ``start_from`` if it is given (not the method), else those of the preset.
    order, tasks_file
        An order (`tasks.orders`) or a task file (`read_tasks`). Both None: those of the preset.
    start_from, buffer_from
        Folders of runs: this run starts with the parameters, and the experiences, of these.
    fresh, drift
        Whether to start with random parameters even if the solver `Preset.needs_start`, and
        whether each task except the first drifts from the one before it (`tasks.task.drifting`).
    tests_of
        ``generator`` or ``published``, for all tasks (`Task.tests_of`). None: as in the tasks.
    solver_options, method_options
        Override single options of the preset, or of ``start_from``.
    more_settings, **settings
        Those of `config.settings.SETTINGS`. None: the value of the preset. ``one_pass`` is then
        True on a GPU, except for a solver with the option ``batchnorm``.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value or name is invalid, an option contradicts an ablation, or a start is missing.
    """
    base = find_preset(preset)
    solver, problem, model = _model(base, solver, problem, start_from)
    if solver in base.needs_start and start_from is None and not fresh:
        raise ConfigError(
            f"preset {preset!r}: {solver!r} starts with meta-learned parameters: expected"
            " start_from, a folder made by `pretrain` or `import-checkpoint`, or fresh, for random"
            " parameters, got neither"
        )
    method = base.method if method is None else method
    own = base.settings_for(problem, solver, method)
    chosen = own | given_settings(settings, more_settings or {})
    images = bool(chosen.get("images", False))
    if order is not None and tasks_file is not None:
        raise ConfigError("tasks: expected an order or a task file, got both")
    if tasks_file is not None:
        tasks, source = read_tasks(tasks_file), str(tasks_file)
    elif order is not None:
        source = str(order)
        tasks = base.tasks(named_order(source, problem), solver, images)
    else:
        tasks = base.tasks(base.order, solver, images)
        source = "1" if base.order == paper_order(1) else base.name
    if drift:
        tasks = drifting(tasks)
    if tests_of is not None:
        tasks = tuple(attrs.evolve(task, tests_of=tests_of) for task in tasks)
    options = {**model, **check.options("solver_options", solver_options or {})}
    given = check.options("method_options", method_options or {})
    given = ablated(method, translated(method, given, "options"))  # it overrides the preset's
    return Config(
        solver=solver,
        problem=problem,
        method=method,
        preset=preset,
        order=source,
        seed=check.number(seed),
        device=device,
        start_from=str(start_from.resolve()) if start_from else "",
        buffer_from=str(buffer_from.resolve()) if buffer_from else "",
        solver_options=check.plain(options),
        method_options=check.plain({**base.method_options.get(method, {}), **given}),
        tasks=unique_labels(tasks),
        **{
            "tests": base.tests,
            # With batch normalisation over states (`invit`) one pass would learn something else.
            "one_pass": not device.startswith("cpu") and not options.get("batchnorm", False),
            "curve_every": base.curve_every,
            **check.plain(chosen),
        },
    )


def _model(
    base: Preset, solver: str | None, problem: str | None, start_from: Path | None
) -> tuple[str, str, Options]:
    """Return solver, problem and the solver's options; those of ``start_from`` if it is given."""
    if start_from is None:
        solver = base.solver if solver is None else solver
        problem = base.problem if problem is None else problem
        return solver, problem, base.solver_options.get(solver, {})
    source = read_config(start_from)
    for name, given in (("solver", solver), ("problem", problem)):
        own = getattr(source, name)
        if given not in (None, own):
            raise ConfigError(f"{name}: expected {own!r} as in {start_from}, got {given!r}")
    return source.solver, source.problem, source.solver_options
