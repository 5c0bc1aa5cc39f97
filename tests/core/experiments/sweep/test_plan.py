"""Plans of sweeps: every run once."""

import attrs
import pytest
from synthetic_sweeps import FILE, Invented

from lifelong_co.errors import ConfigError, LifelongError, UnknownNameError
from lifelong_co.experiments.sweep import table
from lifelong_co.experiments.sweep.conduct import conduct
from lifelong_co.experiments.sweep.grid import (
    Grid,
    grids_from_toml,
)
from lifelong_co.experiments.sweep.plan import make_plan


def test_unknown_names_are_refused(tmp_path):
    """Methods, options and ablations are checked when planning, before anything runs."""
    with pytest.raises(UnknownNameError, match=r"fine-tunning.*Did you mean 'fine-tuning'"):
        make_plan([Grid(methods=("fine-tunning",), device="cpu")], tmp_path / "sweep")
    with pytest.raises(UnknownNameError, match="KLDD"):
        Grid(ablations=("KLDD",))
    with pytest.raises(UnknownNameError, match="order"):
        make_plan([Grid(methods=("ewc",), orders="1-6", device="cpu")], tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


def test_solver_that_needs_a_start_is_refused_when_planning(tmp_path):
    """With `fresh` it starts with random parameters."""
    grid = Grid(methods=("fine-tuning",), solvers=("omni",), preset="paper", device="cpu")
    with pytest.raises(ConfigError, match=r"pretrain.*import-checkpoint"):
        make_plan([grid], tmp_path / "sweep")
    [job] = make_plan([attrs.evolve(grid, fresh=True)], tmp_path / "sweep").jobs.values()
    assert (job.config.solver, job.config.start_from) == ("omni", "")


def test_plan_to_read_runs_makes_no_solver(tmp_path):
    """Stored runs can be read where their solver cannot be made, as without the official code."""
    options = {"lawyers": 3}
    grid = Grid(methods=("fine-tuning",), preset="demo", device="cpu", solver_options=options)
    with pytest.raises(LifelongError, match="lawyers"):
        make_plan([grid], tmp_path)
    [job] = make_plan([grid], tmp_path, check=False).jobs.values()
    assert job.config.solver_options["lawyers"] == 3


def test_settings_of_a_grid_are_those_of_its_runs(tmp_path):
    """Settings that have a key of their own may stand there or in `settings`, not in both."""
    text = "methods = ['ewc']\ndevice = 'cpu'\nsettings = {learning_rate = 2e-4, tests = 9}\n"
    [grid] = grids_from_toml(text, "sweep.toml", tmp_path)
    [job] = make_plan([grid], tmp_path / "sweep").jobs.values()
    assert (job.config.learning_rate, job.config.tests) == (2e-4, 9)
    with pytest.raises(ConfigError, match="tests: expected one value, got 3 and 9"):
        make_plan([attrs.evolve(grid, tests=3)], tmp_path / "sweep")


def test_objective_and_schedule_of_a_grid_are_those_of_its_runs(tmp_path):
    """A default that is written out makes no other run; wrong names are refused before any run."""
    common = "preset = 'demo'\ndevice = 'cpu'\nmethods = ['feng']\nobjective = 'preference'\n"
    more = "schedule = 'cosine'\n"
    rows = [
        more,
        more + "objective_options = {beta = 0.05}\n",
        "objective_options = {beta = 1.0}\n",
    ]
    text = common + "".join(f"[[grids]]\n{row}" for row in rows)
    grids = grids_from_toml(text, "sweep.toml", tmp_path)
    first, second = [job.config for job in make_plan(grids, tmp_path / "s").jobs.values()]
    assert (first.objective, first.objective_options) == ("preference", {})
    assert (first.schedule, second.schedule) == ("cosine", "warmup-linear")
    assert second.objective_options == {"beta": 1.0}
    for key, value, match in (
        ("objective", "preferance", "Did you mean 'preference'"),
        ("objective_options", {"betta": 1.0}, "Did you mean 'beta'"),
        ("objective_options", {"beta": -1.0}, "beta: expected more than 0"),
        ("schedule", "cosin", "Did you mean 'cosine'"),
    ):
        with pytest.raises(LifelongError, match=match):
            make_plan([attrs.evolve(grids[0], **{key: value})], tmp_path / "s")


def test_a_plan_has_every_run_once(tmp_path):
    """Two grids share runs."""
    grids = grids_from_toml(FILE.replace("1-2", "1-3"), "sweep.toml", tmp_path)
    plan = make_plan(grids, tmp_path)
    # Two methods, three orders, two seeds; two more rows of order 1.
    assert len(plan.jobs) == 2 * 3 * 2 + 2 * 2
    assert [len(row.cells) for block in plan.blocks for row in block.rows] == [6, 6, 2, 2, 2]
    assert [block.title for block in plan.blocks] == ["cvrp, small", "ablations"]


SAME = """
device = "cpu"
preset = "small"
[[grids]]
methods = ["llr-bc"]
orders = 1
variants = [
    {name = "alpha 0.2", options = {alpha = 0.2}},
    {name = "alpha 1", options = {alpha = 1.0}},
]
[[grids]]
name = "in the preset's order, which is 1"
methods = ["llr-bc"]
variants = [{name = "alpha 1", options = {alpha = 2.0}}]
"""


def test_rows_that_ask_for_the_same_run_share_it(tmp_path):
    """A run is what it does, not the row's name; two runs whose rows are called alike stay two."""
    grids = grids_from_toml(SAME, "sweep.toml", tmp_path)
    plan = make_plan(grids, tmp_path / "sweep")
    name = "cvrp-pomo-llr-bc-small-order1-seed0"
    lower = "cvrp-pomo-alpha_1-small-order1-seed0"
    other = "cvrp-pomo-alpha_1-small-own-seed0"
    assert list(plan.jobs) == [name, lower, other]
    asked = [[cell[2] for row in block.rows for cell in row.cells] for block in plan.blocks]
    assert asked == [[name, name, lower], [name, other]]
    assert {job.config.method_options["alpha"] for job in plan.jobs.values()} == {0.2, 1, 2}
    engine = Invented()
    assert conduct(plan, engine) == {}
    assert sorted(engine.attempts) == sorted(plan.jobs)
    shown = table.table(table.gather(plan), plan.blocks[0]).shown
    assert [line[:2] for line in shown[1:]] == [
        ["llr-bc", "1"],
        ["alpha 0.2", "1"],
        ["alpha 1", "1"],
    ]
    assert shown[1][2:] == shown[2][2:]
    # In the second grid, too, `order1`: a name that is taken gets a suffix.
    named = (attrs.evolve(grid, orders="1") for grid in grids)
    assert [job[: len(lower)] for job in make_plan(named, tmp_path).jobs] == [name, lower, lower]
