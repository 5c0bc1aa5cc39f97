"""Configurations, written as TOML and read back."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifelong_co as lco
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config, from_toml, to_toml
from lifelong_co.tasks.task import Task

text = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)
# Orders, and names and paths of tasks, have no control characters and no separators of lines.
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=12)
positive = st.integers(1, 2**40)
numbers = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.booleans(), st.integers(-(2**60), 2**60), numbers, text)
values = st.one_of(scalars, st.lists(scalars, max_size=3))
options = st.dictionaries(text, values, max_size=4)

tasks = st.builds(
    Task,
    distribution=words.filter(bool),
    size=st.integers(2, 500),
    epochs=positive,
    batches=positive,
    batch_size=positive,
    name=words,
    capacity=st.none() | positive,
    variant=words,
    distance=st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
    drift_from=st.sampled_from(["", "U", "U manhattan"]),
)
configs = st.builds(
    Config,
    **dict.fromkeys(("solver", "problem", "method", "preset", "device"), text),
    order=words,
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
        ("seed = 0", "", r"seed: required field missing"),
        ("seed = 0", "seed = '0'", "expected a whole number, got '0'"),
        ("seed = 0", "seed = -1", "seed: expected a whole number of at least 0, got -1"),
        ("tests = 256", "tests = 0", "tests: expected a whole number of at least 1, got 0"),
        ("tests = 256", "tests = 256\nsede = 1", "key 'sede'.*Did you mean 'seed'"),
        ("augment = false", "augment = 0", "expected true or false, got 0"),
        ('"square"', '"squares"', "Unknown symmetries 'squares'.*Did you mean 'square'"),
        ('"adam"', '"adagrad"', "Unknown optimizer 'adagrad'; expected one of: adam, adamw"),
        ("decay = 1.0", "decay = 0.0", "learning_rate_decay: expected more than 0, got 0.0"),
        ("seed = 0", "seed = ", "not valid TOML"),
        ("learning_rate = 0.0012", "learning_rate = '0.1'", r"expected a number, got '0\.1'"),
        ("learning_rate = 0.0012", "learning_rate = true", "expected a number, got True"),
    ],
)
def test_altered_configuration_is_refused(line: str, other: str, match: str) -> None:
    """The error names the file and the setting."""
    written = to_toml(resolve(preset="small"))
    assert line in written
    with pytest.raises(lco.ConfigError, match=f"^there.toml: .*{match}"):
        from_toml(written.replace(line, other), "there.toml")


def test_settings_that_an_earlier_version_lacked_have_their_old_meaning() -> None:
    """Without them: REINFORCE, Adam at a constant rate, and images of the square."""
    config = resolve(preset="paper-economy")
    later = ("symmetries", "optimizer", "learning_rate_decay", "objective", "schedule")
    later += ("[objective_options]",)
    lines = [line for line in to_toml(config).splitlines() if line.split(" = ")[0] not in later]
    assert len(lines) == len(to_toml(config).splitlines()) - 6
    assert from_toml("\n".join(lines)) == config
    assert (config.symmetries, config.optimizer, config.learning_rate_decay) == (
        "square", "adam", 1.0,
    )  # fmt: skip
    assert (config.objective, config.objective_options, config.schedule) == (
        "reinforce", {}, "constant",
    )  # fmt: skip


def test_random_images_of_a_task_with_another_distance_are_refused(task_file: Any) -> None:
    """A rotation changes its lengths; without images nothing is refused."""
    path = task_file(BUDGET + "[[tasks]]\ndistribution = 'U'\nsize = 5\ndistance = 'manhattan'")
    with pytest.raises(lco.ConfigError, match=r"not Euclidean, as in task .*got 'random'"):
        resolve(tasks_file=path, symmetries="random", images=True)
    assert resolve(tasks_file=path, symmetries="random").symmetries == "random"
    baseline = {"trial_images": True}
    with pytest.raises(lco.ConfigError, match=r"not Euclidean, as in task .*got 'random'"):
        resolve(tasks_file=path, symmetries="random", solver="invit", solver_options=baseline)
    drifts = "[[tasks]]\ndistribution = 'U'\nsize = 5\ndrift_from = 'U manhattan'"
    with pytest.raises(lco.ConfigError, match=r"not Euclidean, as in task .*got 'random'"):
        resolve(tasks_file=task_file(BUDGET + drifts), symmetries="random", augment=True)


def test_whole_number_is_accepted_as_a_fraction() -> None:
    """TOML's ``1`` becomes ``1.0`` where a fraction is expected."""
    written = to_toml(resolve(preset="small")).replace(
        "learning_rate = 0.0012", "learning_rate = 1"
    )
    rate = from_toml(written).learning_rate
    assert rate == 1
    assert type(rate) is float


def test_new_fields_of_tasks_are_written_only_when_given() -> None:
    """So configurations of earlier versions keep their bytes, and the new ones are read again."""
    small = resolve(preset="small")
    assert "last_batch_size" not in to_toml(small)
    assert "tests_of" not in to_toml(small)
    paper = resolve(preset="paper", tests_of="published")
    assert to_toml(paper).count("last_batch_size = 16\n") == 2
    assert to_toml(paper).count('tests_of = "published"\n') == 6
    assert from_toml(to_toml(paper)) == paper


def test_attributes_survive_toml() -> None:
    """They are written as a list, and only when given."""
    small = resolve(preset="small")
    assert "attributes" not in to_toml(small)
    windy = attrs.evolve(small, tasks=(attrs.evolve(small.tasks[0], attributes=("windy", "open")),))
    assert from_toml(to_toml(windy)) == windy
