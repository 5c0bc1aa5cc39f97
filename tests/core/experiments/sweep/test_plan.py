"""Sweeps: what they plan, how they survive their runs, and the table they end in."""

import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from synthetic_runs import finish, two_orders

from lifelong_co.errors import ConfigError, Interrupted, UnknownNameError
from lifelong_co.experiments import spread
from lifelong_co.experiments.sweep import table
from lifelong_co.experiments.sweep.conduct import conduct, locked
from lifelong_co.experiments.sweep.grid import (
    Grid,
    Variant,
    grids_from_toml,
    grids_to_toml,
    read_grids,
)
from lifelong_co.experiments.sweep.plan import Plan, make_plan
from lifelong_co.experiments.sweep.ranges import parse_ranges, show_ranges
from lifelong_co.runs.folder import Cost, RunFolder


@given(st.lists(st.integers(0, 60), min_size=1, unique=True))
def test_ranges_read_back(numbers):
    """Any list of different numbers is written so that reading gives it again."""
    text = show_ranges(numbers)
    assert list(parse_ranges(text, "orders")) == numbers
    assert list(parse_ranges(text.replace(",", " , ").replace("-", " - "), "orders")) == numbers


def test_ranges_by_hand():
    """Both ends are in, neighbours become ranges and the order stays."""
    assert parse_ranges("1-3,5", "orders") == (1, 2, 3, 5)
    assert parse_ranges("7,0-1", "orders") == (7, 0, 1)
    assert show_ranges([1, 2, 3, 5, 4, 5 + 4]) == "1-3,5,4,9"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected numbers and ranges like 1-3,5, got ''"),
        ("1,", "got '1,'"),
        ("-1", "got '-1'"),
        ("1-2-3", "got '1-2-3'"),
        ("one", "got 'one'"),
        ("3-1", "runs upwards, got '3-1'"),
        ("1-3,2", "got 2 twice in '1-3,2'"),
        ("0-999999999", "at most 10000 numbers"),
    ],
)
def test_invalid_ranges_are_refused(text, said):
    """Whatever is no list of different numbers is refused, with what was written."""
    with pytest.raises(ConfigError, match=f"seeds: .*{said}"):
        parse_ranges(text, "seeds")


FILE = """
preset = "demo"
seeds = [0, 1]
device = "cpu"
tests = 4
[[grids]]
orders = "1-2"
methods = ["llr-bc", "fine-tuning"]
preset = "small"
[[grids]]
name = "ablations"
orders = 1
preset = "small"
methods = ["llr-bc"]
ablations = ["KLD"]
variants = [{name = "alpha 1", options = {alpha = 1.0}}]
"""


def test_a_file_is_read_and_written_back(tmp_path):
    """Values above the tables are their defaults; what is written reads the same."""
    grids = grids_from_toml(FILE, "sweep.toml", tmp_path)
    assert [(grid.preset, grid.seeds, grid.tests) for grid in grids] == [("small", "0,1", 4)] * 2
    assert [row.name for row in grids[1].rows] == ["llr-bc", "KLD", "alpha 1"]
    assert grids_from_toml(grids_to_toml(grids), "again", tmp_path) == grids
    (tmp_path / "sweep.toml").write_text('methods = ["ewc"]\ntasks = ["own.toml"]')
    [grid] = read_grids(tmp_path / "sweep.toml")
    assert grid.tasks == (str(tmp_path / "own.toml"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one of methods, ablations and variants"),
        ("methods = 'llr-bc'", "methods: expected a list, got 'llr-bc'"),
        ("methods = ['ewc']\nseed = 1", "Unknown key 'seed'.*Did you mean 'seeds'"),
        ("methods = ['ewc']\nseeds = '2-1'", "runs upwards"),
        ("methods = ['ewc', 'ewc']", "'ewc' twice"),
        ("methods = ['KLD']\nablations = ['KLD']", "'KLD' twice"),
        ("methods = ['ewc']\ntests = '9'", "expected int, got '9'"),
        ("methods = ['ewc']\ndevice = 'tpu'", "expected auto, cpu or cuda, got 'tpu'"),
        ("grids = 3", r"expected \[\[grids\]\] tables"),
        ("methods = [", "not valid TOML"),
    ],
)
def test_invalid_sweep_files_are_refused(text, said, tmp_path):
    """Every slip is refused, naming the file."""
    with pytest.raises(ConfigError, match=f"(?s)mine.toml.*{said}"):
        grids_from_toml(text, "mine.toml", tmp_path)


def test_unknown_names_are_refused(tmp_path):
    """Methods, options and ablations are checked when planning, before anything runs."""
    with pytest.raises(UnknownNameError, match=r"fine-tunning.*Did you mean 'fine-tuning'"):
        make_plan([Grid(methods=("fine-tunning",), device="cpu")], tmp_path / "sweep")
    with pytest.raises(UnknownNameError, match="KLDD"):
        Grid(ablations=("KLDD",))
    with pytest.raises(UnknownNameError, match="order"):
        make_plan([Grid(methods=("ewc",), orders="1-6", device="cpu")], tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


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
    {name = "alpha 3", options = {alpha = 3}},
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
    assert {job.config.method_options["alpha"] for job in plan.jobs.values()} == {3, 1, 2}
    engine = Invented()
    assert conduct(plan, engine) == {}
    assert sorted(engine.attempts) == sorted(plan.jobs)
    shown = table.table(table.gather(plan), plan.blocks[0]).shown
    assert [line[:2] for line in shown[1:]] == [
        ["llr-bc", "1"],
        ["alpha 3", "1"],
        ["alpha 1", "1"],
    ]
    assert shown[1][2:] == shown[2][2:]
    # In the second grid, too, `order1`: a name that is taken gets a suffix.
    named = (attrs.evolve(grid, orders="1") for grid in grids)
    assert [job[: len(lower)] for job in make_plan(named, tmp_path).jobs] == [name, lower, lower]


def test_folders_of_other_runs_are_refused(tmp_path):
    """A run there with another configuration is named, with what differs."""
    one = make_plan([Grid(methods=("ewc",), orders="1", device="cpu", tests=4)], tmp_path)
    two = make_plan([Grid(methods=("ewc",), orders="1", device="cpu", tests=5)], tmp_path)
    [job], [other] = one.jobs.values(), two.jobs.values()
    job.folder.mkdir(parents=True)
    (job.folder / ".config.toml.0.tmp").write_text("torn")
    job.prepare()
    job.prepare()
    assert RunFolder(job.folder).config() == job.config
    with pytest.raises(ConfigError, match="needs tests = 5, but the run in this folder has 4"):
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
    with pytest.raises(ConfigError, match="needs method_options"):
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
    with pytest.raises(ConfigError, match="needs tasks"):
        jobs[2].prepare()


@attrs.define
class Ended:
    """A run that has ended with a status, or one that waits to be asked to stop."""

    status: int | None

    def poll(self) -> int | None:
        """Return the status."""
        return self.status

    def stop(self) -> None:
        """End as a run does that was asked."""
        self.status = 143

    kill = stop


@attrs.define
class Invented:
    """An engine whose runs end at once, with invented costs unless something is to happen."""

    events: dict[str, list[int | None]] = attrs.field(factory=dict)
    """Statuses with which the first attempts at a job end."""
    slots: int = 2
    attempts: list[str] = attrs.field(factory=list)

    def submit(self, arguments: Sequence[str], log: Path) -> Ended:
        """Do a run."""
        command, resume, place = arguments
        assert (command, resume) == ("run", "--resume")
        folder = Path(place)
        self.attempts.append(folder.name)
        waiting = self.events.get(folder.name, [])
        if waiting:
            with log.open("a") as file:
                file.write("it broke\n\n")
            return Ended(waiting.pop(0))
        finish(folder)
        return Ended(0)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Plan four runs."""
    grid = Grid(
        methods=("fine-tuning", "llr-bc", "der++", "feng"), preset="demo", device="cpu", tests=4
    )
    return make_plan([grid], tmp_path / "sweep")


def named(plan: Plan, method: str) -> str:
    """Return the name of the job of a method."""
    [name] = [name for name, job in plan.jobs.items() if job.config.method == method]
    return name


def test_a_run_that_dies_once_is_resumed(plan):
    """The others go on meanwhile; each is finished once."""
    name = named(plan, "llr-bc")
    engine, told = Invented({name: [-9]}), []
    assert conduct(plan, engine, log=told.append) == {}
    assert sorted(engine.attempts) == sorted([*plan.jobs, name])
    assert all(job.finished for job in plan.jobs.values())
    assert f"{name} ended with signal 9; resuming it" in told
    # All is there, so there is nothing left to do.
    again = Invented()
    assert conduct(plan, again) == {}
    assert again.attempts == []


def test_a_run_that_always_fails_is_named(plan):
    """It is tried three times, said to have failed with its last line, and the others finish."""
    name = named(plan, "der++")
    engine = Invented({name: [1] * 9})
    assert conduct(plan, engine) == {name: "status 1: it broke"}
    assert engine.attempts.count(name) == 3
    assert [each for each, job in plan.jobs.items() if not job.finished] == [name]
    results = table.gather(plan)
    assert f"missing: {name}" in table.as_text(results)
    assert "| der++ | 0 of 1 | - | - | - | - | - |" in table.as_markdown(results)


def test_a_run_that_is_refused_is_not_tried_again(plan):
    """Status 2 is a setting that cannot be used: it stays so."""
    name = named(plan, "feng")
    engine = Invented({name: [2] * 9})
    assert conduct(plan, engine) == {name: "status 2: it broke"}
    assert engine.attempts.count(name) == 1


def test_a_run_that_gets_further_each_time_is_resumed_again(plan):
    """Deaths count only while no checkpoint is added: a job's time limit is no failure."""
    name = named(plan, "feng")
    places = plan.jobs[name].folder / "checkpoints"

    class Slow(Invented):
        def submit(self, arguments: Sequence[str], log: Path) -> Ended:
            handle = Invented.submit(self, arguments, log)
            step = self.attempts.count(name)
            if self.attempts[-1] == name:
                (places / f"checkpoint-{step:08d}.safetensors").write_text("")
            return handle

    engine = Slow({name: [-9] * 6}, slots=1)
    assert conduct(plan, engine) == {}
    assert engine.attempts.count(name) == 7


def test_stop_ends_the_runs_and_the_sweep(plan):
    """Runs are asked once, and the error names the folder to resume."""
    engine = Invented({name: [None] * 9 for name in plan.jobs})
    looks = iter(range(9))
    with pytest.raises(Interrupted, match=f"resume it from the folder {plan.folder}"):
        conduct(plan, engine, stop=lambda: next(looks) > 1)
    assert len(engine.attempts) == engine.slots
    assert not any(job.finished for job in plan.jobs.values())


def test_second_sweep_in_a_folder_is_refused(tmp_path):
    """A second one is refused, also while a run holds on to the lock that it inherited."""
    with locked(tmp_path / "sweep") as lock:
        with (
            pytest.raises(ConfigError, match="another sweep, or a run of an earlier sweep"),
            locked(tmp_path / "sweep"),
        ):
            raise AssertionError
        child = subprocess.Popen(
            [sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,)
        )
    with pytest.raises(ConfigError, match="still working"), locked(tmp_path / "sweep"):
        raise AssertionError
    child.communicate(b"\n")
    with locked(tmp_path / "sweep") as lock:
        os.fstat(lock)


@given(level=st.floats(0.01, 0.999), freedom=st.integers(1, 60))
def test_students_t_has_the_known_quantiles(level, freedom):
    """The quantiles are scipy's."""
    expected = scipy.stats.t.ppf((1 + level) / 2, freedom)
    assert spread.quantile(level, freedom) == pytest.approx(expected, rel=1e-9)


def test_the_interval_by_hand():
    """For 1, 2, 3: t is 4.3027 at two degrees of freedom, over the root of three."""
    assert spread.half_width([1.0, 2.0, 3.0]) == pytest.approx(4.302652730 / math.sqrt(3))
    assert spread.half_width([1.0]) is None


def test_the_spread_by_hand():
    """Orders' means 2 and 5; seeds' means 3 and 4, of which half the interval is t(1) / 2."""
    values = {("1", 0): 1.0, ("1", 1): 3.0, ("2", 0): 5.0, ("2", 1): 5.0}
    found = spread.over_orders(values)
    assert found.mean == 3.5
    assert found.deviation == pytest.approx(math.sqrt(4.5))
    assert found.interval == pytest.approx(12.70620474 / 2)
    # A seed without all orders counts for the mean of an order, and not for the interval.
    assert spread.over_orders({**values, ("1", 2): 5.0}) == spread.Spread(
        4.0, math.sqrt(2), found.interval
    )
    assert spread.over_orders({("1", 0): 0.5}) == spread.Spread(0.5, None, None)


def test_the_table_by_hand(tmp_path):
    """Two tasks in both orders, two seeds, and d* over both methods."""
    plan = two_orders(tmp_path, "fine-tuning", "restart", name="two tasks")
    # The last row of costs, in excess of d* = 10, in per cent; restart is at d* throughout.
    final = {
        ("order1", 0): (1, 3),
        ("order1", 1): (2, 5),
        ("order2", 0): (5, 5),
        ("order2", 1): (8, 7),
    }
    for name, job in plan.jobs.items():
        job.prepare()
        order = Path(job.config.order).stem
        excess = final[order, job.config.seed] if "fine" in name else (0, 0)

        def shift(cost: Cost, excess: tuple[int, int] = excess) -> float:
            last = cost.learning == 2
            return 10 * (1 + excess[cost.tested - 1] / 100) if last else 10.0

        finish(job.folder, shift)
    results = table.gather(plan)
    header, first, second = table.table(results, plan.blocks[0]).shown
    assert header == ["method", "runs", "AP", "AF", "AMF", "APl", "AG"]
    # AP: orders' means 27.5 and 62.5; seeds' means 35 and 55, so half the interval is 12.706 * 10.
    # AF, AMF: the first task has risen by 1, 2, 5, 8 per cent. APl: half of the second's excess.
    forgotten = "40.0 (35.4) ± 127.1"
    assert first[:4] == ["fine-tuning", "4", "45.0 (24.7) ± 127.1", forgotten]
    assert first[4:] == [forgotten, "25.0 (7.1) ± 63.5", "0.0 (0.0) ± 0.0"]
    assert second == ["restart", "4", *["0.0 (0.0) ± 0.0"] * 5]
    text = table.as_text(results)
    assert "two tasks, cvrp, orders 1-2, seeds 0-1" in text
    assert "| fine-tuning | 4 | 45.0 (24.7) ± 127.1 |" in table.as_markdown(results)
    line = table.as_csv(results).splitlines()[1]
    assert line.startswith('"two tasks, cvrp, orders 1-2, seeds 0-1",cvrp,pomo,fine-tuning,4,4,')
    assert line.split(",fine-tuning,4,4,")[1].startswith("45,24.7487,127.062,")
