"""The resolved configuration of a run: everything that decides its bytes, and its TOML form."""

from pathlib import Path
from typing import Any

import attrs
import cattrs
import tomli_w

from lifelong_co.config.ablations import ablated
from lifelong_co.config.former_options import translated
from lifelong_co.config.presets import Preset
from lifelong_co.config.presets import preset as find_preset
from lifelong_co.errors import ConfigError
from lifelong_co.storage.toml import drop_none, parse, structure
from lifelong_co.tasks.task import Task, drifting, order, unique_labels
from lifelong_co.tensors.precision import known_precision
from lifelong_co.validators import at_least

Options = dict[str, Any]


@attrs.frozen(kw_only=True)
class Config:
    """What a run does; two runs with equal configurations give equal costs on the CPU."""

    solver: str
    problem: str
    method: str
    preset: str
    order: str
    """Number of the paper's order, or the file that lists the tasks."""
    seed: int = attrs.field(validator=at_least(0))
    device: str
    tests: int = attrs.field(validator=at_least(1))
    curve_every: int = attrs.field(validator=at_least(1))
    augment: bool = False
    """Test with the eight symmetric images of each instance."""
    images: bool = False
    """Train on the eight symmetric images of each instance."""
    one_pass: bool = False
    """Learn a rollout's likelihood in one pass (`one_pass`), not step by step."""
    precision: str = attrs.field(default="float32", validator=known_precision)
    """What training steps compute in; parameters and tests are float32 whatever it is."""
    start_from: str = ""
    """Run folder whose parameters this run starts with; empty: fresh ones."""
    buffer_from: str = ""
    """Run folder whose experiences this run starts with; empty: none."""
    learning_rate: float = 1e-4
    weight_decay: float = 1e-6
    solver_options: Options = attrs.field(factory=dict)
    method_options: Options = attrs.field(factory=dict)
    tasks: tuple[Task, ...] = ()


def resolve(
    *,
    solver: str | None = None,
    problem: str | None = None,
    method: str | None = None,
    preset: str = "small",
    order_number: int | None = None,
    tasks_file: Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    start_from: Path | None = None,
    buffer_from: Path | None = None,
    drift: bool = False,
    solver_options: Options | None = None,
    method_options: Options | None = None,
    **settings: Any,
) -> Config:
    """Fill a configuration from a preset; what the caller gives wins.

    Parameters
    ----------
    solver, problem
        When None those of ``start_from``, else of the preset.
    method
        The preset's when None.
    order_number, tasks_file
        One of the paper's orders at the preset's sizes, or a task file (`read_tasks`); the
        preset's own sequence when neither is given.
    start_from, buffer_from
        Folders of other runs: one with parameters to start with, one with a buffer.
    drift
        Let every task but the first drift from the one before it (`tasks.drifting`).
    solver_options, method_options
        Override the options of the preset, or of ``start_from``, one by one.
    settings
        ``tests``, ``curve_every``, ``augment``, ``images``, ``learning_rate``, ``weight_decay``,
        ``precision``, ``one_pass``; None: the preset's; ``one_pass`` as the device likes it.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value or a name cannot be used, or an ablation sets an option otherwise.
    """
    base = find_preset(preset)
    solver, problem, model = _model(base, solver, problem, start_from)
    if order_number is not None and tasks_file is not None:
        raise ConfigError("tasks: expected an order or a task file, got both")
    if tasks_file is not None:
        tasks, source = read_tasks(tasks_file), str(tasks_file)
    elif order_number is not None:
        tasks, source = base.tasks(order(order_number), solver), str(order_number)
    else:
        tasks = base.tasks(base.order, solver)
        source = "1" if base.order == order(1) else base.name
    if drift:
        tasks = drifting(tasks)
    chosen = {name: value for name, value in settings.items() if value is not None}
    given, options = dict(method_options or {}), {**model, **(solver_options or {})}
    method = method or base.method
    given = translated(method, given, "options")
    given = ablated(method, given)  # before the preset's options, which give way
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
        solver_options=options,
        method_options={**base.method_options.get(method, {}), **given},
        tasks=unique_labels(tasks),
        **{
            "tests": base.tests,
            # Normalised together (`invit`), states learn something else in one pass.
            "one_pass": not device.startswith("cpu") and not options.get("batchnorm", False),
            "curve_every": base.curve_every,
            **base.settings_of.get(solver, {}),
            **chosen,
        },
    )


def _model(
    base: Preset, solver: str | None, problem: str | None, start_from: Path | None
) -> tuple[str, str, Options]:
    """Return solver, problem and the solver's options; parameters fit only their own."""
    if start_from is None:
        solver = solver or base.solver
        return solver, problem or base.problem, base.solver_options.get(solver, {})
    source = read_config(start_from)
    for name, given, own in (
        ("solver", solver, source.solver),
        ("problem", problem, source.problem),
    ):
        if given not in (None, own):
            raise ConfigError(f"{name}: expected {own!r} as in {start_from}, got {given!r}")
    return source.solver, source.problem, source.solver_options


def read_config(folder: Path) -> Config:
    """Read the resolved configuration of a run folder.

    Raises
    ------
    ConfigError
        If this is no run folder.
    """
    file = folder / "config.toml"
    try:
        return from_toml(file.read_text(encoding="utf-8"), str(file))
    except OSError as error:
        raise ConfigError(
            f"{folder}: expected a run folder with config.toml ({error.strerror})"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: expected UTF-8 text ({error})") from error


def to_toml(config: Config) -> str:
    """Return the configuration as TOML; what is None or a task does not say is left out."""
    plain = drop_none(cattrs.unstructure(config))
    # Not the variant, with which configurations have been written ever since.
    unsaid = {f.name: f.default for f in attrs.fields(Task) if isinstance(f.default, str)}
    del unsaid["variant"]
    plain["tasks"] = [
        {name: value for name, value in task.items() if value != unsaid.get(name)}
        for task in plain["tasks"]
    ]
    return tomli_w.dumps(plain)


def from_toml(text: str, source: str = "config.toml") -> Config:
    """Read what `to_toml` wrote.

    Raises
    ------
    ConfigError
        If it is no TOML, or holds unknown, missing or ill-typed settings; names ``source``.
    """
    config: Config = structure(parse(text, source), Config, source)
    options = translated(config.method, config.method_options, source)
    return attrs.evolve(config, method_options=options)


def read_tasks(path: Path) -> tuple[Task, ...]:
    """Read a task sequence: a TOML file of ``[[tasks]]`` tables with the fields of `Task`.

    Top-level ``epochs``, ``batches`` and ``batch_size`` are defaults for every task; paths are
    relative to the file.

    Raises
    ------
    ConfigError
        If the file is missing or a field is unknown, missing or ill-typed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"task file {path}: cannot be read ({reason})") from error
    data = parse(text, str(path))
    tables = data.pop("tasks", None)
    if not isinstance(tables, list) or not tables:
        raise ConfigError(f"task file {path}: expected at least one [[tasks]] table, got none")
    for table in tables:
        if not isinstance(table, dict):
            raise ConfigError(f"task file {path}: expected [[tasks]] tables, got {table!r}")
    tasks = []
    for number, table in enumerate(tables, start=1):
        task = structure({**data, **table}, Task, f"task file {path}, task {number}")
        paths = {
            field: str((path.parent / getattr(task, field)).resolve())
            for field in ("files", "test_files")
            if getattr(task, field)
        }
        tasks.append(attrs.evolve(task, **paths))
    return tuple(tasks)
