"""A run that gets further tasks equals one that had them from the beginning."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import pytest
from command_line import contents
from tiny_runs import BATCHES, EPOCHS, parameters, same, tiny_config

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.config.settings import ALL, NEXT
from lifelong_co.errors import (
    CheckpointError,
    ConfigError,
    FileFormatError,
    Interrupted,
    UnknownNameError,
)
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.learner import learn
from lifelong_co.runs import further_tasks
from lifelong_co.runs.folder import RunFolder, with_all_options
from lifelong_co.runs.further_tasks import with_tasks
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.storage import checkpoint
from lifelong_co.tasks.task import Task

SIZES = (5, 6, 5)
"""The third task has the label of the first one."""
KNOW_ALL = {name for name in registry.names("method") if registry.knows_all_tasks(name, {})}


def whole_config(method: str = "fine-tuning", tests_after: str = ALL) -> Config:
    """Return a run of all tasks, as a task file gives them."""
    config = tiny_config(method, "cvrp", sizes=SIZES)
    named = [
        attrs.evolve(task, name="U5 (2)" if j == 2 else "") for j, task in enumerate(config.tasks)
    ]
    return attrs.evolve(config, tasks=tuple(named), tests_after=tests_after, curve_every=1)


def first_of(config: Config, k: int) -> Config:
    """Return the run of the first tasks."""
    return attrs.evolve(config, tasks=config.tasks[:k])


def go_on(folder: Path, tasks: Sequence[Task]) -> Run:
    """Learn further tasks."""
    return learn(prepare(with_tasks(RunFolder(folder), tasks, "later"), folder, resume=True))


def lines(folder: Path) -> list[str]:
    """Return the lines of ``costs.csv``; tests of earlier parameters may come later."""
    return sorted((folder / "costs.csv").read_text().splitlines())


@pytest.mark.parametrize("method", sorted(set(registry.names("method")) - KNOW_ALL))
def test_further_tasks_are_learned_as_if_known_from_the_beginning(
    method: str, tmp_path: Path
) -> None:
    """One further task, then another: the same bits of parameters, costs and metrics."""
    config = whole_config(method)
    whole = learn(prepare(config, tmp_path / "whole"))
    learn(prepare(first_of(config, 1), tmp_path / "run"))
    go_on(tmp_path / "run", tiny_config("fine-tuning", "cvrp", sizes=SIZES[1:2]).tasks)
    last = go_on(tmp_path / "run", tiny_config("fine-tuning", "cvrp", sizes=SIZES[2:]).tasks)
    assert same(parameters(last), parameters(whole))
    assert lines(tmp_path / "run") == lines(tmp_path / "whole")
    made, wanted = (tmp_path / name / "metrics.json" for name in ("run", "whole"))
    assert made.read_bytes() == wanted.read_bytes()
    stored = RunFolder(tmp_path / "run").config()
    assert stored.tasks == config.tasks
    assert stored.order == "later"


def test_run_tested_on_the_next_task_only_has_the_same_metrics(tmp_path: Path) -> None:
    """Its former last task was tested on more than it would be now; that is left out."""
    config = whole_config(tests_after=NEXT)
    learn(prepare(config, tmp_path / "whole"))
    learn(prepare(first_of(config, 2), tmp_path / "run"))
    go_on(tmp_path / "run", config.tasks[2:])
    more = set(lines(tmp_path / "run")) - set(lines(tmp_path / "whole"))
    assert {line.partition(",U")[0] for line in more} == {"2,2,1"}
    assert set(lines(tmp_path / "whole")) <= set(lines(tmp_path / "run"))
    made, wanted = (tmp_path / name / "metrics.json" for name in ("run", "whole"))
    assert made.read_bytes() == wanted.read_bytes()
    one, two = (load_run(tmp_path / name) for name in ("run", "whole"))
    assert (one.rows, one.tests) == (two.rows, two.tests)


def test_run_that_stops_in_a_further_task_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """It needs the tasks only once, even if it ends before its first step; its tests are saved."""
    config = whole_config("rehearsal")
    learn(prepare(config, tmp_path / "whole"))
    folder = tmp_path / "run"
    learn(prepare(first_of(config, 2), folder))
    prepare(with_tasks(RunFolder(folder), config.tasks[2:], "later"), folder, resume=True)
    said: list[str] = []
    again = prepare(RunFolder(folder).config(), folder, resume=True, log=said.append)
    assert not [line for line in said if line.startswith("test of the solver")]
    with pytest.raises(Interrupted):
        learn(again, stop=lambda: True)
    learn(prepare(RunFolder(folder).config(), folder, resume=True))
    assert lines(folder) == lines(tmp_path / "whole")


@pytest.mark.parametrize("moment", ["rewrite", "save"])
def test_run_killed_while_it_gets_further_tasks_loses_nothing(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the configuration is written it is as it was; after that it has the tasks."""
    config, folder = whole_config(), tmp_path / "run"
    learn(prepare(config, tmp_path / "whole"))
    learn(prepare(first_of(config, 2), folder))
    before = contents(folder)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder if moment == "rewrite" else further_tasks, moment, killed)
        with pytest.raises(KeyboardInterrupt):
            go_on(folder, config.tasks[2:])
    if moment == "rewrite":
        assert contents(folder) == before
        go_on(folder, config.tasks[2:])
    else:
        learn(prepare(RunFolder(folder).config(), folder, resume=True))
    assert lines(folder) == lines(tmp_path / "whole")


def test_run_that_is_not_finished_gets_no_further_task(tmp_path: Path) -> None:
    """The checkpoint decides: parameters of the last task can be there before it."""
    config, folder = first_of(whole_config(), 2), tmp_path / "run"
    steps = BATCHES * EPOCHS * 2 - 1
    run = prepare(config, folder)
    with pytest.raises(Interrupted):
        learn(run, stop=lambda: run.steps == steps)
    checkpoint.save(RunFolder(folder).after_task(2), steps, {})
    with pytest.raises(ConfigError, match=r"expected a finished run.* learned 1 of 2 tasks"):
        go_on(folder, whole_config().tasks[2:])
    assert RunFolder(folder).config() == with_all_options(config)


def test_same_command_twice_does_not_learn_the_tasks_twice(tmp_path: Path) -> None:
    """A name says that this is meant."""
    config, folder = tiny_config("fine-tuning", sizes=(5,)), RunFolder(tmp_path / "run")
    learn(prepare(config, folder.path))
    more = tiny_config("fine-tuning", sizes=(6, 5)).tasks
    go_on(folder.path, more)
    with pytest.raises(ConfigError, match=r"got its last ones again \(U6, U5 \(2\)\); resume it"):
        with_tasks(folder, more, "later")
    for others in (more[:1], [attrs.evolve(more[1], name="again")], [*more, *more]):
        assert len(with_tasks(folder, others, "later").tasks) == 3 + len(others)


def test_parameters_of_an_earlier_task_are_missed(tmp_path: Path) -> None:
    """The tests of further tasks need them; the run stays as it was."""
    config, folder = whole_config(), tmp_path / "run"
    learn(prepare(first_of(config, 2), folder))
    shutil.rmtree(RunFolder(folder).after_task(1))
    with pytest.raises(CheckpointError, match="expected the parameters after task U5, which"):
        go_on(folder, config.tasks[2:])
    assert len(RunFolder(folder).config().tasks) == 2


@pytest.mark.parametrize("name", registry.names("logger"))
def test_loggers_get_the_tests_of_earlier_tasks_once(name: str, tmp_path: Path) -> None:
    """They start with all that came before, as for any run that is resumed."""
    if name == "tensorboard":
        pytest.importorskip("tensorboard")
    config = attrs.evolve(whole_config(), loggers=(name,))
    learn(prepare(first_of(config, 2), tmp_path / "run"))
    go_on(tmp_path / "run", config.tasks[2:])
    learn(prepare(config, tmp_path / "whole"))
    if name == "csv":
        made, wanted = ((tmp_path / run / "metrics.csv").read_text() for run in ("run", "whole"))
        assert without_times(made) == without_times(wanted)


def without_times(table: str) -> list[str]:
    """Return the lines of a table of the logger ``csv`` that are equal in equal runs."""
    return [line for line in table.splitlines() if ",train,seconds," not in line]


@pytest.mark.parametrize("method", sorted(KNOW_ALL))
def test_method_that_knows_all_tasks_gets_no_further_task(method: str, tmp_path: Path) -> None:
    """A configuration that was edited by hand is refused, too."""
    config = whole_config(method)
    learn(prepare(first_of(config, 2), tmp_path / "run"))
    with pytest.raises(ConfigError, match=f"got '{method}', which learns all tasks at once"):
        with_tasks(RunFolder(tmp_path / "run"), config.tasks[2:], "later")
    with pytest.raises(CheckpointError, match="number of tasks: expected 2, got 3"):
        prepare(config, tmp_path / "run", resume=True)


def test_task_that_cannot_be_used_changes_nothing(tmp_path: Path) -> None:
    """The run folder keeps its bytes; the next task is as welcome as before."""
    config, folder = whole_config(), tmp_path / "run"
    learn(prepare(first_of(config, 1), folder))
    before = contents(folder)
    wrong: list[tuple[type[Exception], dict[str, str]]] = [
        (UnknownNameError, {"distribution": "Q"}),
        (FileFormatError, {"distribution": "", "files": str(tmp_path / "none.npz")}),
    ]
    for error, values in wrong:
        with pytest.raises(error):
            go_on(folder, [attrs.evolve(config.tasks[1], **values)])
        assert contents(folder) == before
    go_on(folder, config.tasks[1:2])


def test_files_of_a_further_task_are_kept_in_mind(tmp_path: Path) -> None:
    """Their content must not change after that, as that of the first tasks."""
    config, folder, file = (
        tiny_config("fine-tuning", sizes=(5,)),
        tmp_path / "run",
        tmp_path / "june.npz",
    )
    drawn = np.random.default_rng(0)
    np.savez(file, nodes=drawn.random((5, 5, 2), dtype=np.float32))
    june = Task(files=str(file), epochs=1, batches=1, batch_size=2)
    learn(prepare(config, folder))
    go_on(folder, [june])
    np.savez(file, nodes=drawn.random((5, 5, 2), dtype=np.float32))
    with pytest.raises(ConfigError, match="task june: files: expected the content that"):
        go_on(folder, config.tasks)
