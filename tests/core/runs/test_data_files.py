"""A run continues only with the content of its files that it knows."""

import shutil
from pathlib import Path

import attrs
import numpy as np
import pytest
from tiny_runs import parameters, same, tiny_config

from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError, FileFormatError, Interrupted
from lifelong_co.experiments.comparison.comparison import compare_runs
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.studies import chapters
from lifelong_co.learner import learn
from lifelong_co.runs import data_files
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import start
from lifelong_co.storage import checkpoint
from lifelong_co.tasks.task import Task


def months(folder: Path, seed: int = 0) -> Path:
    """Write ten instances of five nodes in two files of a folder."""
    folder.mkdir(exist_ok=True)
    drawn = np.random.default_rng(seed)
    for name in ("april", "may"):
        nodes = drawn.random((5, 5, 2), dtype=np.float32)
        np.savez(folder / f"{name}.npz", nodes=nodes)
    return folder


def config_of(files: Path, test_files: Path | None = None) -> Config:
    """Return a run of a task from files and one from a distribution."""
    tiny = tiny_config("fine-tuning")
    task = Task(
        files=str(files), test_files=str(test_files or ""), epochs=1, batches=2, batch_size=2
    )
    return attrs.evolve(tiny, tasks=(attrs.evolve(task, name="mine"), tiny.tasks[0]))


@pytest.mark.parametrize("changed", ["files", "test_files"])
def test_changed_files_are_refused_and_nothing_is_lost(tmp_path: Path, changed: str) -> None:
    """The error names task and file; with the old content the run ends as if nothing happened."""
    places = {"files": months(tmp_path / "files"), "test_files": months(tmp_path / "test_files", 1)}
    config = config_of(**places)
    whole = learn(prepare(config, tmp_path / "whole"))
    with pytest.raises(Interrupted):
        learn(prepare(config, tmp_path / "run"), stop=lambda: True)
    old = shutil.copytree(places[changed], tmp_path / "old")
    months(places[changed], seed=2)
    with pytest.raises(ConfigError, match=rf"task mine: {changed}: expected the content that .*"):
        prepare(config, tmp_path / "run", resume=True)
    shutil.copytree(old, places[changed], dirs_exist_ok=True)
    resumed = learn(prepare(config, tmp_path / "run", resume=True))
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs


def test_training_files_of_learned_tasks_may_be_gone(tmp_path: Path) -> None:
    """If they have test files; the run ends with the same bytes, and still knows what they held."""
    config = config_of(months(tmp_path / "files"), months(tmp_path / "test_files", 1))
    whole, folder = learn(prepare(config, tmp_path / "whole")), tmp_path / "run"
    run = prepare(config, folder)
    with pytest.raises(Interrupted):
        learn(run, stop=lambda: run.steps == 1)
    shutil.move(tmp_path / "files", tmp_path / "away")
    with pytest.raises(FileFormatError, match="files: problem tsp: expected an"):
        prepare(config, folder, resume=True)
    shutil.move(tmp_path / "away", tmp_path / "files")
    run = prepare(config, folder, resume=True)
    with pytest.raises(Interrupted):
        learn(run, stop=lambda: run.learner.task == 1)
    held = data_files.read(folder)
    shutil.rmtree(tmp_path / "files")
    resumed = learn(prepare(config, folder, resume=True))
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs
    assert data_files.read(folder) == held
    further = attrs.evolve(config, tasks=(*config.tasks, attrs.evolve(config.tasks[1], name="b")))
    learn(prepare(further, folder, resume=True))
    assert data_files.read(folder) == held


@pytest.mark.parametrize("method", ["multi-task-batch", "fine-tuning"])
def test_file_that_is_drawn_from_again_is_compared(method: str, tmp_path: Path) -> None:
    """By a method that learns all tasks at once, or after a kill before the checkpoint."""
    config = attrs.evolve(
        config_of(months(tmp_path / "files"), months(tmp_path / "test_files", 1)), method=method
    )
    folder = tmp_path / "run"
    run = prepare(config, folder)
    with pytest.raises(Interrupted):
        learn(run, stop=lambda: run.steps == 1)
    checkpoint.save(RunFolder(folder).after_task(1), 1, {})  # as by a kill before the checkpoint
    months(tmp_path / "files", seed=2)
    with pytest.raises(ConfigError, match="task mine: files: expected the content"):
        prepare(config, folder, resume=True)


def test_stream_compares_the_files_of_a_learned_task_before_it_draws(tmp_path: Path) -> None:
    """A plugin's method can do so."""
    config, folder = config_of(months(tmp_path / "a"), months(tmp_path / "b", 1)), tmp_path / "run"
    prepare(config, folder)
    run = start(config, RunFolder(folder), learned=1)
    assert run.stream.batch(0, 0).nodes.shape == (2, 5, 2)
    months(tmp_path / "a", seed=2)
    with pytest.raises(ConfigError, match="task mine: files: expected the content"):
        start(config, RunFolder(folder), learned=1).stream.batch(0, 0)


def test_fisher_information_is_of_the_files_that_were_learned(tmp_path: Path) -> None:
    """EWC draws from the last task again when another one comes."""
    config, folder = config_of(months(tmp_path / "a"), months(tmp_path / "b", 1)), tmp_path / "run"
    config = attrs.evolve(config, method="ewc")
    learn(prepare(attrs.evolve(config, tasks=config.tasks[:1]), folder))
    months(tmp_path / "a", seed=2)
    with pytest.raises(ConfigError, match="task mine: files: expected the content"):
        learn(prepare(config, folder, resume=True))
    months(tmp_path / "a")
    learn(prepare(config, folder, resume=True))


def test_largest_size_of_files_is_kept(tmp_path: Path) -> None:
    """For tasks that do not say their size; it stays when the files are gone."""
    config = config_of(months(tmp_path / "a"), months(tmp_path / "b", 1))
    learn(prepare(config, tmp_path / "run"))
    shutil.rmtree(tmp_path / "a")
    assert data_files.read(tmp_path / "run")["mine"]["largest"] == 5
    sized = attrs.evolve(config.tasks[0], files=str(tmp_path / "b"), size=5)
    prepare(attrs.evolve(config, tasks=(sized,)), tmp_path / "sized")
    assert "largest" not in data_files.read(tmp_path / "sized")["mine"]


def test_file_that_is_gone_from_a_folder_is_missed(tmp_path: Path) -> None:
    """The digest is of all files in it."""
    config = config_of(months(tmp_path / "files"))
    prepare(config, tmp_path / "run")
    (tmp_path / "files" / "may.npz").unlink()
    with pytest.raises(ConfigError, match="task mine: files"):
        prepare(config, tmp_path / "run", resume=True)


def test_moved_files_and_runs_of_earlier_versions_go_on(tmp_path: Path) -> None:
    """Content counts, not the place; a run without digests gets them."""
    prepare(config_of(months(tmp_path / "a")), tmp_path / "run")
    held = data_files.read(tmp_path / "run")
    data_files.checked(tmp_path / "run", config_of(months(tmp_path / "b")))
    (tmp_path / "run" / data_files.FILE).unlink()
    prepare(config_of(tmp_path / "a"), tmp_path / "run", resume=True)
    assert data_files.read(tmp_path / "run") == held != {}
    prepare(tiny_config(), tmp_path / "other")
    assert not (tmp_path / "other" / data_files.FILE).exists()


def test_runs_tested_on_other_content_are_not_compared(tmp_path: Path) -> None:
    """Neither by `compare`, nor in one chapter of a report; training files may differ."""
    train, tests = months(tmp_path / "train"), months(tmp_path / "tests", 1)
    config = config_of(train, tests)
    for name, change in (("a", train), ("b", tests), ("c", None)):
        learn(prepare(config, tmp_path / name))
        if change:
            months(change, seed=2)
    a, b, c = (load_run(tmp_path / name) for name in "abc")
    assert len(compare_runs([a, b]).groups) == 2  # not two runs of one method
    (chapter,) = chapters([a, b])
    assert len(chapter.studies[0].variants) == 2
    assert len(collect([tmp_path]).runs) == 3
    with pytest.raises(ConfigError, match="task mine, SHA-256 of the test files"):
        compare_runs([a, c])
    assert len(chapters([a, b, c])) == 2


def test_report_takes_runs_on_equal_files_for_one_and_on_others_for_two(tmp_path: Path) -> None:
    """The content of the tests decides, not the path."""
    files, moved = months(tmp_path / "files"), months(tmp_path / "moved")
    for name, place in (("a", files), ("b", moved)):
        learn(prepare(config_of(place), tmp_path / "runs" / name))
    months(files, seed=2)
    learn(prepare(config_of(files), tmp_path / "runs" / "c"))
    found = collect([tmp_path / "runs"])
    assert [run.path.name for run in found.runs] == ["a", "c"]
    (line,) = found.left_out
    assert "b: the same configuration and seed as" in line


def test_damaged_file_is_named(tmp_path: Path) -> None:
    """It is not taken for a run without files."""
    (tmp_path / data_files.FILE).write_text("[1]")
    with pytest.raises(FileFormatError, match=r"data\.json: expected an object"):
        data_files.read(tmp_path)


def test_changed_test_files_are_named(tmp_path: Path) -> None:
    """Training files do not matter to an evaluation, nor do tasks that are not asked for."""
    files, test_files = months(tmp_path / "files"), months(tmp_path / "tests", 1)
    config = config_of(files, test_files)
    learn(prepare(config, tmp_path / "run"))
    held = data_files.read(tmp_path / "run")
    months(files, seed=2)
    data_files.require_same_tests(held, config)
    assert not [*data_files.changed_tests(held, config, {"mine"})]
    months(test_files, seed=2)
    (said,) = data_files.changed_tests(held, config, {"mine", config.tasks[1].label})
    assert said.startswith(f"task mine: {test_files} has another content")
    assert not [*data_files.changed_tests(held, config, {config.tasks[1].label})]
    with pytest.raises(ConfigError, match=r"task mine: .* has another content"):
        data_files.require_same_tests(held, config)
