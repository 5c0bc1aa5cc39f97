"""The resolved configuration of a run: everything that decides its bytes, and its TOML form."""

import tomllib
from pathlib import Path
from typing import Any

import attrs
import cattrs
import tomli_w
from cattrs.gen import make_dict_structure_fn
from cattrs.v import format_exception

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.presets import preset as find_preset
from lifelong_co.tasks import Task, at_least, order, unique_labels

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
    learning_rate: float = 1e-4
    weight_decay: float = 1e-6
    solver_options: Options = attrs.field(factory=dict)
    method_options: Options = attrs.field(factory=dict)
    tasks: tuple[Task, ...] = ()


def resolve(
    *,
    solver: str = "pomo",
    problem: str = "cvrp",
    method: str = "llr-bc",
    preset: str = "small",
    order_number: int | None = None,
    tasks_file: Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    solver_options: Options | None = None,
    method_options: Options | None = None,
    **settings: Any,
) -> Config:
    """Fill a configuration from a preset; what the caller gives wins.

    Parameters
    ----------
    order_number, tasks_file
        One of the paper's orders at the preset's sizes, or a task file (`read_tasks`); the
        preset's own sequence when neither is given.
    solver_options, method_options
        Override the preset's options one by one.
    settings
        ``tests``, ``curve_every``, ``augment``, ``learning_rate``, ``weight_decay``; None: preset.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value or a name cannot be used.
    """
    base = find_preset(preset)
    if order_number is not None and tasks_file is not None:
        raise ConfigError("tasks: expected an order or a task file, got both")
    if tasks_file is not None:
        tasks, source = read_tasks(tasks_file), str(tasks_file)
    elif order_number is not None:
        tasks, source = base.tasks(order(order_number)), str(order_number)
    else:
        tasks = base.tasks(base.order)
        source = "1" if base.order == order(1) else base.name
    chosen = {name: value for name, value in settings.items() if value is not None}
    return Config(
        solver=solver,
        problem=problem,
        method=method,
        preset=preset,
        order=source,
        seed=seed,
        device=device,
        solver_options={**base.solver_options.get(solver, {}), **(solver_options or {})},
        method_options={**base.method_options.get(method, {}), **(method_options or {})},
        tasks=unique_labels(tasks),
        **{"tests": base.tests, "curve_every": base.curve_every, **chosen},
    )


def to_toml(config: Config) -> str:
    """Return the configuration as TOML; what is None or a task leaves empty is left out."""
    plain = _drop_none(cattrs.unstructure(config))
    optional = {field.name for field in attrs.fields(Task) if field.default == ""}
    plain["tasks"] = [
        {name: value for name, value in task.items() if value or name not in optional}
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
    config: Config = _structure(_parse(text, source), Config, source)
    return config


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
    data = _parse(text, str(path))
    tables = data.pop("tasks", None)
    if not isinstance(tables, list) or not tables:
        raise ConfigError(f"task file {path}: expected at least one [[tasks]] table, got none")
    for table in tables:
        if not isinstance(table, dict):
            raise ConfigError(f"task file {path}: expected [[tasks]] tables, got {table!r}")
    tasks = []
    for number, table in enumerate(tables, start=1):
        task = _structure({**data, **table}, Task, f"task file {path}, task {number}")
        paths = {
            field: str((path.parent / getattr(task, field)).resolve())
            for field in ("files", "test_files")
            if getattr(task, field)
        }
        tasks.append(attrs.evolve(task, **paths))
    return tuple(tasks)


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not valid TOML: {error}") from error


def _structure(data: dict[str, Any], kind: Any, source: str) -> Any:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for exact in (int, float, str, bool):
        converter.register_structure_hook(exact, _exactly)
    converter.register_structure_hook(
        Task, make_dict_structure_fn(Task, converter, _cattrs_forbid_extra_keys=True)
    )
    try:
        return converter.structure(data, kind)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error
    except Exception as error:
        reasons = "; ".join(
            cattrs.transform_error(error, path="settings", format_exception=_explain)
        )
        raise ConfigError(f"{source}: {reasons}") from error


def _exactly(value: Any, kind: type) -> Any:
    """Take TOML's own types only: ``int("3")`` or ``bool("no")`` would hide a slip."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ConfigError(f"expected {kind.__name__}, got {value!r}")
    return value


def _explain(error: BaseException, kind: type | None) -> str:
    """Return our own message where there is one; cattrs says only "invalid value"."""
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        known = [field.name for field in attrs.fields(error.cl)]
        unknown = sorted(error.extra_fields)
        return " ".join(UnknownNameError("key", name, known).message for name in unknown)
    return str(error) if isinstance(error, ConfigError) else format_exception(error, kind)


def _drop_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_drop_none(item) for item in value]
    return value
