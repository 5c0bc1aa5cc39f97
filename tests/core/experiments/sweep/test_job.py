"""Runs of a sweep: no folder of another run, and none that is damaged counts as complete."""

import numpy as np
import pytest
from synthetic_runs import finish, two_orders

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.grid import Grid, Variant
from lifelong_co.experiments.sweep.plan import make_plan
from lifelong_co.runs import data_files
from lifelong_co.runs.folder import RunFolder, with_all_options


def test_folders_of_other_runs_are_refused(tmp_path):
    """A run there with another configuration is named, with what differs."""
    one = make_plan([Grid(methods=("ewc",), orders="1", device="cpu", tests=4)], tmp_path)
    two = make_plan([Grid(methods=("ewc",), orders="1", device="cpu", tests=5)], tmp_path)
    [job], [other] = one.jobs.values(), two.jobs.values()
    job.folder.mkdir(parents=True)
    (job.folder / ".config.toml.0.tmp").write_text("torn")
    job.prepare()
    job.prepare()
    assert RunFolder(job.folder).config() == with_all_options(job.config)
    with pytest.raises(ConfigError, match="needs tests = 5, but the run in this folder has 4"):
        other.prepare()
    with pytest.raises(ConfigError, match="needs tests = 5, but the run in this folder has 4"):
        other.check({})
    (other.folder / "config.toml").write_text("torn")
    other.check({})  # it is not the sweep that fails, only this run
    with pytest.raises(ConfigError, match="not valid TOML"):
        other.prepare()


def test_an_option_left_out_is_its_default(tmp_path):
    """A run of a version that had no such option yet is the run that names the default."""
    left_out, default, other = (
        make_plan(
            [Grid(variants=(Variant(name="x", options=options),), orders="1", device="cpu")],
            tmp_path,
        )
        for options in ({}, {"record": "last-epoch"}, {"record": "always"})
    )
    [job], [same], [another] = (plan.jobs.values() for plan in (left_out, default, other))
    job.prepare()
    same.prepare()
    with pytest.raises(ConfigError, match=r"needs method_options\.record = 'always', but"):
        another.prepare()


def test_a_task_file_may_have_moved(tmp_path):
    """What its runs have learned is what it holds, wherever it lay."""
    jobs = []
    for place, size in (("here", 5), ("there", 5), ("elsewhere", 6)):
        (tmp_path / place).mkdir()
        tasks = tmp_path / place / "tasks.toml"
        tasks.write_text(
            "epochs = 1\nbatches = 1\nbatch_size = 2\n"
            f'tasks = [{{distribution = "U", size = {size}}}]'
        )
        grid = Grid(methods=("ewc",), tasks=(str(tasks),), device="cpu")
        jobs += make_plan([grid], tmp_path / "sweep").jobs.values()
    jobs[0].prepare()
    jobs[1].prepare()
    with pytest.raises(ConfigError, match=r"needs task 1 size = 6, but the run .* has 5"):
        jobs[2].prepare()


def test_sweep_on_other_files_than_its_runs_is_refused(tmp_path):
    """Before a run starts: one table cannot have both. Files that are gone do not matter."""
    file, tasks = tmp_path / "mine.npz", tmp_path / "tasks.toml"
    budget = "epochs = 1\nbatches = 1\nbatch_size = 2\n"
    tasks.write_text(f'{budget}[[tasks]]\nname = "mine"\nfiles = "mine.npz"\n')
    np.savez(file, nodes=np.random.default_rng(0).random((4, 5, 2), dtype=np.float32))
    grid = Grid(methods=("ewc",), problems=("tsp",), tasks=(str(tasks),), device="cpu")
    [job] = make_plan([grid], tmp_path / "sweep").jobs.values()
    job.prepare()
    data_files.keep(job.folder, data_files.checked(job.folder, job.config))
    job.check({})
    np.savez(file, nodes=np.random.default_rng(1).random((4, 5, 2), dtype=np.float32))
    with pytest.raises(ConfigError, match=r"task mine: files: expected .*choose another folder"):
        job.check({})
    file.unlink()
    job.check({})


def test_run_with_damaged_costs_is_not_finished(tmp_path):
    """So the sweep resumes it, and the run repairs its costs."""
    plan = two_orders(tmp_path, "fine-tuning")
    job = next(iter(plan.jobs.values()))
    job.prepare()
    finish(job.folder)
    assert job.finished
    file = job.folder / "costs.csv"
    file.write_bytes(file.read_bytes()[:-3])
    assert not job.finished
