"""Preparing a run: new, resumed, or resumed before its first checkpoint."""

from pathlib import Path
from typing import Any

import attrs
import pytest
from tiny_runs import parameters, same, tiny_config

import lifelong_co as lco
from lifelong_co.config.brief import brief
from lifelong_co.config.run_config import to_toml
from lifelong_co.errors import CheckpointError, ConfigError, FolderError, UnknownNameError
from lifelong_co.learner import learn
from lifelong_co.runs.folder import with_all_options
from lifelong_co.runs.prepare import prepare


def test_new_run_logs_its_configuration(tmp_path: Path) -> None:
    """The log names the main settings, the folder holds all; nothing is learned yet."""
    lines: list[str] = []
    run = prepare(tiny_config(), tmp_path / "run", log=lines.append)
    assert lines == [brief(run.config, tmp_path / "run" / "config.toml")]
    assert run.config == tiny_config()
    assert run.folder.config() == with_all_options(tiny_config())
    assert (run.steps, run.costs) == (0, [])


def test_resumed_run_has_the_saved_state(tmp_path: Path) -> None:
    """The log names the checkpoint that it continues from."""
    lines: list[str] = []
    done = learn(prepare(tiny_config(), tmp_path / "run"))
    run = prepare(done.config, tmp_path / "run", resume=True, log=lines.append)
    assert run.steps == done.steps
    assert same(parameters(run), parameters(done))
    assert lines[1].startswith(f"continuing after step {done.steps} from {tmp_path / 'run'}")


def test_run_without_a_checkpoint_starts_from_the_beginning(tmp_path: Path) -> None:
    """It stopped before its first save, so the parameters that it starts with are copied again."""
    source = learn(prepare(tiny_config("fine-tuning"), tmp_path / "source"))
    config = attrs.evolve(tiny_config(), start_from=str(tmp_path / "source"))
    prepare(config, tmp_path / "run")
    lines: list[str] = []
    run = prepare(config, tmp_path / "run", resume=True, log=lines.append)
    assert lines[1:] == ["no checkpoint yet: starting from the beginning"]
    assert same(parameters(run), parameters(source))


class Seen:
    """A logger that opens a file when it is made, and keeps the names of tasks."""

    def __init__(self, folder: Path) -> None:
        (folder / "mine.log").write_text("", encoding="utf-8")
        self.names: list[str] = []
        SEEN.append(self)

    def start(self, epochs: Any, tests: Any) -> None:  # noqa: ARG002
        """Keep the names of earlier tests."""
        self.names += [row.name for row in tests]

    def epoch(self, entry: Any) -> None:
        """Ignore it."""

    def tests(self, rows: Any) -> None:
        """Keep the names of new ones."""
        self.names += [row.name for row in rows]

    def close(self) -> None:
        """Ignore it."""


SEEN: list[Seen] = []
"""The loggers that were made."""


def test_logger_may_write_when_it_is_made_and_gets_the_names_of_the_tasks(
    tmp_path: Path, plugin: Any
) -> None:
    """They are the same after a resume, also where `costs.csv` guards against a formula."""
    lco.register_plugin(plugin("register_loggers", "seen", Seen))
    config = attrs.evolve(tiny_config(), loggers=("seen",))
    tasks = [attrs.evolve(task, name=f"={number}") for number, task in enumerate(config.tasks)]
    config = attrs.evolve(config, tasks=tuple(tasks))
    learn(prepare(config, tmp_path / "run"))
    prepare(config, tmp_path / "run", resume=True)
    first, resumed = SEEN
    assert set(first.names) == {task.name for task in tasks}
    assert resumed.names == first.names


def fails(folder: Path) -> Any:  # noqa: ARG001
    """Make no logger."""
    raise ValueError("no key")


def test_logger_that_cannot_be_made_is_named(tmp_path: Path, plugin: Any) -> None:
    """A wrong name is found before anything is written."""
    lco.register_plugin(plugin("register_loggers", "fails", fails))
    with pytest.raises(UnknownNameError, match="Did you mean 'csv'"):
        prepare(attrs.evolve(tiny_config(), loggers=("csv", "cvs")), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError, match="logger 'fails': ValueError: no key"):
        prepare(attrs.evolve(tiny_config(), loggers=("fails",)), tmp_path / "run")


def test_missing_start_leaves_no_folder(tmp_path: Path) -> None:
    """The error comes before anything is written."""
    config = attrs.evolve(tiny_config(), start_from=str(tmp_path / "absent"))
    with pytest.raises(ConfigError, match="absent"):
        prepare(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_folder_in_use_and_checkpoint_of_another_run_are_refused(tmp_path: Path) -> None:
    """Each fault has an error of its kind."""
    learn(prepare(tiny_config(), tmp_path / "run"))
    with pytest.raises(FolderError):
        prepare(tiny_config(), tmp_path / "run")
    other = attrs.evolve(tiny_config(), solver_options={"embedding_dim": 32})
    (tmp_path / "run" / "config.toml").write_text(to_toml(other))
    with pytest.raises(CheckpointError, match="does not fit"):
        prepare(other, tmp_path / "run", resume=True)
