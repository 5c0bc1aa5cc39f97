"""Sweeps whose runs start from the parameters of one run, and sweeps of tasks that drift."""

import shutil
from pathlib import Path

import attrs
import pytest
from synthetic_sweeps import Invented
from tiny_runs import MODEL, same, tiny_config, tiny_learn

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.conduct import conduct
from lifelong_co.experiments.sweep.grid import Grid, grids_from_toml, grids_to_toml, read_grids
from lifelong_co.experiments.sweep.plan import Plan, make_plan
from lifelong_co.learner import learn
from lifelong_co.runs import starts
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.storage import checkpoint
from lifelong_co.storage.appended import checksum_file

TASKS = """
epochs = 3
batches = 2
batch_size = 4
tasks = [{distribution = "U", size = 5}, {distribution = "E", size = 5}]
"""
FILE = """
tasks = ["tasks.toml"]
device = "cpu"
tests = 3
curve_every = 2
methods = ["fine-tuning", "restart"]
start_from = "pretrained/run"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of a tiny Omni on the TSP, a task file and a sweep file."""
    root = tmp_path_factory.mktemp("start")
    model = {**MODEL, "norm": "none"}
    tiny = attrs.evolve(tiny_config("fine-tuning"), solver="omni", solver_options=model, seed=7)
    tiny_learn(tiny, root / "pretrained")
    (root / "tasks.toml").write_text(TASKS)
    (root / "sweep.toml").write_text(FILE)
    return root


def plan(folder: Path, extra: str = "") -> Plan:
    """Return the plan of the sweep file."""
    return make_plan(grids_from_toml(FILE + extra, "sweep.toml", folder), folder / "out")


def of(plan: Plan, method: str) -> Config:
    """Return the configuration of the run of a method."""
    [config] = [job.config for job in plan.jobs.values() if job.config.method == method]
    return config


def test_start_of_a_grid_is_read(folder):
    """Relative to the file; problem and solver are its own where the file does not say them."""
    [grid] = read_grids(folder / "sweep.toml")
    assert grid.start_from == str((folder / "pretrained" / "run").resolve())
    assert (grid.problems, grid.solvers) == (("tsp",), ("omni",))
    assert grids_from_toml(grids_to_toml((grid,)), "again", Path("elsewhere")) == (grid,)
    plain = grids_to_toml((Grid(methods=("ewc",)),))
    assert "start_from" not in plain
    assert "drift" not in plain


def test_every_run_has_the_start(folder):
    """With the start's own model, whatever the preset's."""
    found = plan(folder)
    configs = [job.config for job in found.jobs.values()]
    assert len(configs) == 2
    for config in configs:
        assert config.start_from == str((folder / "pretrained" / "run").resolve())
        assert (config.problem, config.solver) == ("tsp", "omni")
        own = {**MODEL, "norm": "none"}
        assert config.solver_options == registry.all_options("solver", "omni", own)
    text = FILE.replace('start_from = "pretrained/run"', "")
    fresh = grids_from_toml(text + 'problems = ["tsp"]\nsolvers = ["omni"]', "f", folder)
    both = make_plan([*fresh, *read_grids(folder / "sweep.toml")], folder / "out")
    assert len(both.jobs) == 4


def test_runs_begin_with_the_starts_parameters(folder, tmp_path):
    """`restart` goes back to them."""
    found = plan(folder)
    given = load_solver(folder / "pretrained" / "run").module.state_dict()
    for method in ("fine-tuning", "restart"):
        assert same(learn(prepare(of(found, method), tmp_path / method)).learner.initial, given)


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ('problems = ["cvrp"]', "problem: expected 'tsp' as in .*run, got 'cvrp'"),
        ('solvers = ["omni", "pomo"]', "solver: expected 'omni' as in .*run, got 'pomo'"),
    ],
)
def test_another_problem_or_solver_is_refused(extra, said, folder):
    """Parameters fit only their own."""
    with pytest.raises(ConfigError, match=said):
        plan(folder, extra)


def test_starts_that_are_no_runs_are_refused(folder):
    """A folder without a run is refused before anything is planned."""
    for start, said in (
        ("nowhere", "nowhere: expected a run folder"),
        (3, "expected a text, got 3"),
    ):
        with pytest.raises(ConfigError, match=said):
            grids_from_toml(f"methods = ['ewc']\nstart_from = {start!r}", "mine.toml", folder)


def test_tasks_of_a_sweep_drift(folder):
    """`drift = true` makes them other runs under other names."""
    text = FILE + '[[grids]]\nname = "still"\n[[grids]]\nname = "drifting"\ndrift = true\n'
    grids = grids_from_toml(text, "sweep.toml", folder)
    found = make_plan(grids, folder / "out")
    assert len(found.jobs) == 4
    drifts = [job.config.tasks[1].drift_from for job in found.jobs.values()]
    assert sorted(drifts) == ["", "", "U", "U"]


def test_start_that_holds_other_parameters_is_refused(folder, tmp_path):
    """A start that was moved, or copied, may have another path: what it holds counts."""
    for name in ("copy", "other"):
        shutil.copytree(folder / "pretrained", tmp_path / name)
    newest = checkpoint.checkpoints(tmp_path / "other" / "run" / "checkpoints")[-1]
    checksum_file(newest).write_text("0" * 64)
    job = next(iter(plan(folder).jobs.values()))
    for setting in starts.NAMES:
        none = attrs.evolve(job.config, start_from="", buffer_from="")
        paths = {
            name: str((folder / "pretrained" if name == "first" else tmp_path / name) / "run")
            for name in ("first", "copy", "gone", "other")
        }
        each = {
            name: attrs.evolve(job, config=attrs.evolve(none, **{setting: path}))
            for name, path in paths.items()
        }
        shutil.rmtree(job.folder, ignore_errors=True)
        each["first"].prepare()
        for name in ("first", "copy", "gone"):
            each[name].check({})
        said = f"needs {setting} = '{paths['other']}', but the run .* has '{paths['first']}'"
        with pytest.raises(ConfigError, match=said):
            each["other"].check({})


def test_runs_of_a_sweep_begin_from_one_checkpoint(folder, tmp_path):
    """Also if the start learns on after the first of them; what is finished can be shown."""
    shutil.copytree(folder / "pretrained" / "run", tmp_path / "start")
    text = FILE.replace("pretrained/run", f"{tmp_path}/start")
    made = make_plan(grids_from_toml(text, "sweep.toml", folder), tmp_path / "out")
    first, second = made.jobs.values()
    first.prepare()
    digest = starts.read(first.folder)["start_from"]
    newest = checkpoint.checkpoints(tmp_path / "start" / "checkpoints")[-1]
    checkpoint.save(newest.parent, 99, checkpoint.load(newest))
    assert starts.present(second.config)["start_from"] != digest
    failed = conduct(made, Invented())
    assert failed == {}
    assert starts.read(second.folder)["start_from"] == digest
    first.check({})
    third = attrs.evolve(second, folder=tmp_path / "third")
    third.prepare({second.config.start_from: digest})
    with pytest.raises(ConfigError, match=r"^start_from: expected the checkpoint that"):
        prepare(third.config, third.folder, resume=True)
