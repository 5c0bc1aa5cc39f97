"""Configurations: resolved from presets, written as TOML and read back, task files."""

from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifelong_co as lco
from lifelong_co.config.presets import preset
from lifelong_co.config.run_config import Config, from_toml, read_tasks, resolve, to_toml
from lifelong_co.tasks.task import Task, order

text = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)
positive = st.integers(1, 2**40)
numbers = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.booleans(), st.integers(-(2**60), 2**60), numbers, text)
values = st.one_of(scalars, st.lists(scalars, max_size=3))
options = st.dictionaries(text, values, max_size=4)

tasks = st.builds(
    Task,
    distribution=text.filter(bool),
    size=st.integers(2, 500),
    epochs=positive,
    batches=positive,
    batch_size=positive,
    name=text,
    capacity=st.none() | positive,
    variant=text,
    test_files=text,
    distance=st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
    drift_from=st.sampled_from(["", "U", "U manhattan"]),
)
configs = st.builds(
    Config,
    **dict.fromkeys(("solver", "problem", "method", "preset", "order", "device"), text),
    seed=st.integers(0, 2**62),
    tests=positive,
    curve_every=positive,
    augment=st.booleans(),
    learning_rate=st.floats(1e-9, 1),
    weight_decay=st.floats(0, 1),
    solver_options=options,
    method_options=options,
    tasks=st.lists(tasks, max_size=3).map(tuple),
)

BUDGET = "epochs = 2\nbatches = 3\nbatch_size = 4\n"


@pytest.fixture
def task_file(tmp_path: Path) -> Any:
    """Return a function that writes a task file."""

    def write(content: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(content, encoding="utf-8")
        return path

    return write


@given(configs)
def test_configuration_survives_toml(config: Config) -> None:
    """Any names and options are read as they were written."""
    assert from_toml(to_toml(config)) == config


def test_every_preset_survives_toml() -> None:
    """The resolved configuration is read back equal."""
    for name in ("demo", "small", "paper"):
        config = resolve(preset=name)
        assert from_toml(to_toml(config)) == config


@pytest.mark.parametrize(
    ("line", "other", "match"),
    [
        ("seed = 0", "", r"required field missing @ settings\.seed"),
        ("seed = 0", "seed = '0'", "expected int, got '0'"),
        ("seed = 0", "seed = -1", "seed: expected a whole number of at least 0, got -1"),
        ("tests = 256", "tests = 0", "tests: expected a whole number of at least 1, got 0"),
        ("tests = 256", "tests = 256\nsede = 1", "key 'sede'.*Did you mean 'seed'"),
        ("augment = false", "augment = 0", "expected bool, got 0"),
        ("seed = 0", "seed = ", "not valid TOML"),
        ("learning_rate = 0.0001", "learning_rate = '0.1'", r"expected float, got '0\.1'"),
        ("learning_rate = 0.0001", "learning_rate = true", "expected float, got True"),
    ],
)
def test_altered_configuration_is_refused(line: str, other: str, match: str) -> None:
    """The error names the file and the setting."""
    written = to_toml(resolve(preset="small"))
    assert line in written
    with pytest.raises(lco.ConfigError, match=f"^there.toml: .*{match}"):
        from_toml(written.replace(line, other), "there.toml")


def test_whole_number_is_accepted_as_a_fraction() -> None:
    """TOML's ``1`` becomes ``1.0`` where a fraction is expected."""
    written = to_toml(resolve(preset="small")).replace(
        "learning_rate = 0.0001", "learning_rate = 1"
    )
    rate = from_toml(written).learning_rate
    assert rate == 1
    assert type(rate) is float


def test_preset_fills_missing_options() -> None:
    """Without options everything is the preset's, and its order too."""
    config, base = resolve(preset="demo"), preset("demo")
    assert (config.tests, config.curve_every) == (base.tests, base.curve_every)
    assert config.solver_options == base.solver_options["pomo"]
    assert config.method_options == base.method_options["llr-bc"]
    assert config.tasks == base.tasks(base.order, "pomo")
    assert (config.learning_rate, config.weight_decay) == (1e-4, 1e-6)
    assert resolve(preset="small").order == "1"
    assert resolve(preset="small", order_number=3).order == "3"
    assert resolve(method="fine-tuning").method_options == {}


def test_option_overrides_the_preset() -> None:
    """Other options stay the preset's, and None means the preset's value."""
    config, base = resolve(), resolve(preset="small")
    assert config == base
    other = resolve(
        order_number=2,
        method_options={"alpha": 3.5, "replay_size": 7},
        solver_options={"head_num": 4},
        tests=11,
        curve_every=None,
        learning_rate=0.5,
        seed=9,
    )
    assert other.method_options == {**base.method_options, "alpha": 3.5, "replay_size": 7}
    assert other.solver_options == {**base.solver_options, "head_num": 4}
    assert (other.tests, other.curve_every) == (11, base.curve_every)
    assert (other.learning_rate, other.seed) == (0.5, 9)
    assert tuple(task.distribution for task in other.tasks) == order(2)
    assert preset("small").method_options["llr-bc"] == base.method_options  # untouched


def test_new_fields_of_tasks_are_written_only_when_given() -> None:
    """So configurations of earlier versions keep their bytes, and the new ones are read again."""
    small = resolve(preset="small")
    assert "last_batch_size" not in to_toml(small)
    assert "tests_of" not in to_toml(small)
    paper = resolve(preset="paper", tests_of="published")
    assert to_toml(paper).count("last_batch_size = 16\n") == 2
    assert to_toml(paper).count('tests_of = "published"\n') == 6
    assert from_toml(to_toml(paper)) == paper


def test_order_and_task_file_together_are_refused(task_file: Any) -> None:
    """They contradict each other."""
    path = task_file(BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5")
    with pytest.raises(lco.ConfigError, match="expected an order or a task file, got both"):
        resolve(order_number=1, tasks_file=path)


def test_task_file_gives_the_tasks(task_file: Any, tmp_path: Path) -> None:
    """Defaults stand at the top, values of a task in its table; paths are relative to the file."""
    path = task_file(
        BUDGET
        + """
        [[tasks]]
        distribution = "U"
        size = 20
        [[tasks]]
        distribution = "GM"
        size = 7
        epochs = 9
        capacity = 60
        variant = "paper"
        [[tasks]]
        files = "data/mine.npz"
        test_files = "../other.npz"
        [[tasks]]
        distribution = "U"
        size = 20
        """
    )
    uniform = Task(distribution="U", size=20, epochs=2, batches=3, batch_size=4)
    mixture = attrs.evolve(
        uniform, distribution="GM", size=7, epochs=9, capacity=60, variant="paper"
    )
    files = attrs.evolve(
        uniform,
        distribution="",
        size=0,
        files=str((tmp_path / "data" / "mine.npz").resolve()),
        test_files=str((tmp_path.parent / "other.npz").resolve()),
    )
    assert read_tasks(path) == (uniform, mixture, files, uniform)
    config = resolve(tasks_file=path)
    assert [task.label for task in config.tasks] == ["U20", "GM7", "mine", "U20 (2)"]
    assert config.order == str(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"expected at least one \[\[tasks\]\] table, got none"),
        ("tasks = 3", r"expected at least one \[\[tasks\]\] table"),
        ("tasks = [1]", r"expected \[\[tasks\]\] tables, got 1"),
        ("tasks = ", "not valid TOML"),
        ("[[tasks]]\ndistribution = 'U'\nsize = 5", r"task 1: required .* settings\.epochs"),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsiz = 5", "key 'siz'.*Did you mean 'size'"),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = '5'", "expected int, got '5'"),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = true", "expected int, got True"),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5.0", r"expected int, got 5\.0"),
        (BUDGET + "[[tasks]]\ndistribution = 7\nsize = 5", "expected str, got 7"),
        (BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 1", "at least 2 nodes, got 1"),
        (BUDGET + "[[tasks]]\nsize = 5", "either a distribution or files"),
        (
            BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5\n[[tasks]]\nepochs = 0\nfiles = 'x'",
            "task 2: .*epochs: expected a whole number of at least 1, got 0",
        ),
    ],
)
def test_bad_task_file_is_refused(task_file: Any, content: str, match: str) -> None:
    """The error names the file, the task and the fault."""
    path = task_file(content)
    with pytest.raises(lco.ConfigError, match=match) as caught:
        read_tasks(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_unreadable_task_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """The file is missing or is not text."""
    path = tmp_path / "tasks.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(lco.ConfigError, match=r"tasks\.toml: cannot be read"):
        read_tasks(path)
