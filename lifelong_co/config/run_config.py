"""The resolved configuration of a run: everything its result depends on, and its TOML form."""

from pathlib import Path
from typing import Any

import attrs
import cattrs

from lifelong_co import validators as check
from lifelong_co.config.former_options import translated, without_idle
from lifelong_co.config.settings import ALL, NEXT
from lifelong_co.errors import ConfigError
from lifelong_co.problems.distances import EUCLIDEAN
from lifelong_co.problems.images import SQUARE, SYMMETRIES
from lifelong_co.storage.toml import drop_none, parse, structure, to_text
from lifelong_co.tasks.task import Task
from lifelong_co.tensors.schedule import CONSTANT, SCHEDULES

Options = dict[str, Any]


@attrs.frozen(kw_only=True)
class Config:
    """All settings of a run; two runs with equal configurations give equal costs on the CPU."""

    solver: str
    problem: str
    method: str
    preset: str
    order: str = attrs.field(validator=check.printable)
    """Number of one of the paper's orders, name of another one, path of the latest task file, or
    ``tasks`` for those given in Python."""
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
    precision: str = attrs.field(default="float32", validator=check.one_of("float32", "bfloat16"))
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
        drifts = [task.former for task in self.tasks if task.drift_from]
        other = [task.label for task in (*self.tasks, *drifts) if task.distance != EUCLIDEAN]
        if self.symmetries != SQUARE and (self.augment or self.training_images) and other:
            raise ConfigError(
                f"symmetries: expected {SQUARE!r} for a distance that is not Euclidean, as in task"
                f" {other[0]}, got {self.symmetries!r}"
            )

    @property
    def training_images(self) -> bool:
        """Whether images of training instances are taken: in each step, or by INViT's baseline."""
        return self.images or bool(self.solver_options.get("trial_images"))


def read_config(folder: Path) -> Config:
    """Read the resolved configuration of a run folder.

    Raises
    ------
    ConfigError
        If this is not a run folder.
    """
    file = folder / "config.toml"
    try:
        return from_toml(file.read_text(encoding="utf-8-sig"), str(file))
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
