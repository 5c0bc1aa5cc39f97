"""The resolved configuration of a run: everything its result depends on, and its TOML form."""

from pathlib import Path
from typing import Any

import attrs
import cattrs

from lifelong_co import validators as check
from lifelong_co.config.ablations import ablated
from lifelong_co.config.former_options import translated, without_idle
from lifelong_co.config.preset import Preset
from lifelong_co.config.presets import preset as find_preset
from lifelong_co.config.settings import ALL, NEXT, given_settings
from lifelong_co.config.task_file import read_tasks as read_tasks
from lifelong_co.errors import ConfigError
from lifelong_co.problems.distances import EUCLIDEAN
from lifelong_co.problems.images import SQUARE, SYMMETRIES
from lifelong_co.storage.toml import drop_none, parse, structure, to_text
from lifelong_co.tasks.orders import named_order
from lifelong_co.tasks.task import Task, drifting, order, unique_labels
from lifelong_co.tensors.precision import known_precision
from lifelong_co.tensors.schedule import CONSTANT, SCHEDULES

Options = dict[str, Any]


@attrs.frozen(kw_only=True)
class Config:
    """All settings of a run; two runs with equal configurations give equal costs on the CPU."""

    solver: str
    problem: str
    method: str
    preset: str
    order: str
    """Number of one of the paper's orders, name of another one, or path of the latest task file."""
    seed: int = attrs.field(validator=check.at_least(0))
    """At least 0."""
    device: str
    """A torch device, for example ``cpu`` or ``cuda``."""
    tests: int = attrs.field(validator=check.at_least(1))
    """Test instances of each task."""
    curve_every: int = attrs.field(validator=check.at_least(1))
    """Epochs between two points of the forgetting curve."""
    tests_after: str = attrs.field(default=ALL, validator=check.one_of(ALL, NEXT))
    """After each task all tasks are tested, or (``next``) only it and the next; at the end all."""
    augment: bool = attrs.field(default=False, validator=check.boolean)
    """Test with the eight images of each instance."""
    images: bool = attrs.field(default=False, validator=check.boolean)
    """Train on the eight images of each instance."""
    symmetries: str = attrs.field(default=SQUARE, validator=check.one_of(*SYMMETRIES))
    """The images: those of the ``square``, or ``random`` ones (`problems.images`)."""
    one_pass: bool = attrs.field(default=False, validator=check.boolean)
    """Learn the likelihood of a rollout in one pass (`rollout.one_pass`), not step by step."""
    precision: str = attrs.field(default="float32", validator=known_precision)
    """Number format of training steps; parameters and tests are always float32."""
    start_from: str = ""
    """Run folder whose parameters this run starts with; empty: new parameters."""
    buffer_from: str = ""
    """Run folder whose experiences this run starts with; empty: no experiences."""
    objective: str = "reinforce"
    """The loss that the solver learns by; ``reinforce`` is the solver's own."""
    optimizer: str = attrs.field(default="adam", validator=check.one_of("adam", "adamw"))
    """``adam`` or ``adamw``; every task starts with a new one."""
    learning_rate: float = attrs.field(default=1e-4, validator=check.not_negative)
    """At least 0; of the first epoch of each task."""
    learning_rate_decay: float = attrs.field(default=1.0, validator=check.positive)
    """Factor of the learning rate after each epoch of a task."""
    schedule: str = attrs.field(default=CONSTANT, validator=check.one_of(*SCHEDULES))
    """How the rate falls in the steps of a task, besides its decay (`runs.learning_rate`)."""
    weight_decay: float = attrs.field(default=1e-6, validator=check.not_negative)
    """At least 0; with ``adam`` a part of the gradient, with ``adamw`` apart from it."""
    loggers: tuple[str, ...] = attrs.field(default=(), validator=check.name_list)
    """Registered loggers; they change no result."""
    solver_options: Options = attrs.field(factory=dict, validator=check.options_table)
    method_options: Options = attrs.field(factory=dict, validator=check.options_table)
    objective_options: Options = attrs.field(factory=dict, validator=check.options_table)
    tasks: tuple[Task, ...] = ()

    def __attrs_post_init__(self) -> None:
        other = [task.label for task in self.tasks if task.distance != EUCLIDEAN]
        if self.symmetries != SQUARE and (self.augment or self.images) and other:
            raise ConfigError(
                f"symmetries: expected {SQUARE!r} for a distance that is not Euclidean, as in task"
                f" {other[0]}, got {self.symmetries!r}"
            )


def resolve(
    *,
    solver: str | None = None,
    problem: str | None = None,
    method: str | None = None,
    preset: str = "small",
    order_number: int | str | None = None,
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
    order_number, tasks_file
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
    if order_number is not None and tasks_file is not None:
        raise ConfigError("tasks: expected an order or a task file, got both")
    if tasks_file is not None:
        tasks, source = read_tasks(tasks_file), str(tasks_file)
    elif order_number is not None:
        source = str(order_number)
        tasks = base.tasks(named_order(source, problem), solver, images)
    else:
        tasks = base.tasks(base.order, solver, images)
        source = "1" if base.order == order(1) else base.name
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
        seed=seed,
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


def read_config(folder: Path) -> Config:
    """Read the resolved configuration of a run folder.

    Raises
    ------
    ConfigError
        If this is not a run folder.
    """
    file = folder / "config.toml"
    try:
        return from_toml(file.read_text(encoding="utf-8"), str(file))
    except OSError as error:
        runs = [
            run.parent for many in ("*", "runs/*") for run in folder.glob(f"{many}/config.toml")
        ]
        hint = f"{error.strerror}; it has runs, e.g. {min(runs)}" if runs else error.strerror
        raise ConfigError(f"{folder}: expected a run folder with config.toml ({hint})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: expected UTF-8 text ({error})") from error


def to_toml(config: Config) -> str:
    """Return the configuration as TOML.

    It leaves out what is None, and `loggers`, `tests_after` and what a task has by default.
    """
    plain = drop_none({**cattrs.unstructure(config), "loggers": list(config.loggers) or None})
    plain = {name: value for name, value in plain.items() if (name, value) != ("tests_after", ALL)}
    # The variant is always written: earlier versions wrote it, too.
    unsaid = {f.name: f.default for f in attrs.fields(Task) if isinstance(f.default, str | bool)}
    del unsaid["variant"]
    plain["tasks"] = [
        {name: value for name, value in task.items() if value not in ([], unsaid.get(name))}
        for task in plain["tasks"]
    ]
    return to_text(plain)


def from_toml(text: str, source: str = "config.toml") -> Config:
    """Read what `to_toml` wrote.

    Raises
    ------
    ConfigError
        If it is no TOML, or holds unknown, missing or ill-typed settings; names ``source``.
    """
    config: Config = structure(without_idle(parse(text, source)), Config, source)
    options = translated(config.method, config.method_options, source)
    return attrs.evolve(config, method_options=options)
