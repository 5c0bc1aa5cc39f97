"""`lifelong-co evaluate`, `tasks` and `plugins`, and runs whose tasks come from files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import call, run_options
from paths import FIXTURES

import lifelong_co as lco
from lifelong_co.config import presets
from lifelong_co.config.task_file import read_tasks
from lifelong_co.runs.folder import RunFolder
from lifelong_co.seeding import generator
from lifelong_co.tasks.instances import training

PNG = b"\x89PNG\r\n\x1a\n"
FROM_FILES = """
epochs = 1
batches = 3
batch_size = 4
tasks = [{files = "data/three.npz"}, {files = "data/town", test_files = "data/town/four.vrp"}]
"""


def costs(folder: Path) -> list[list[float]]:
    """Return the cost matrix of a run."""
    matrix: list[list[float]] = json.loads((folder / "metrics.json").read_text())["costs"]
    return matrix


def test_evaluate_equals_the_last_tests_of_the_run(finished):
    """Without options, all costs equal those at the end of the run."""
    folder = finished().folder
    shown = json.loads(call("evaluate", folder, "--json").out)
    assert list(shown) == ["U6", "E7", "U6 (2)"]
    assert list(shown.values()) == costs(folder)[-1]
    gaps = call("evaluate", folder, "--json", "--references", folder)
    assert (gaps.status, gaps.out) == (2, "")
    assert "--references: not with --json" in gaps.err
    lines = call("evaluate", folder).out.splitlines()
    assert [line.split()[-1] for line in lines] == [f"{cost:.4f}" for cost in shown.values()]


def test_unfinished_run_is_tested_with_a_warning(finished, tmp_path):
    """The costs are those of the latest checkpoint; a line says how many tasks are learned."""
    whole = finished().folder
    folder = Path(shutil.copytree(whole, tmp_path / "unfinished"))
    shutil.rmtree(RunFolder(folder).after_task(3))
    outcome = call("evaluate", folder, "--json")
    assert "not finished, 2 of 3 tasks learned" in outcome.err
    assert outcome.out == call("evaluate", whole, "--json").out
    assert "not finished" not in call("evaluate", whole, "--json").err
    given = (FIXTURES / "four.vrp", "--checkpoint", folder, "--out", tmp_path / "four.sol")
    solved = call("solve", *given).err
    assert "not finished, 2 of 3 tasks learned" in solved
    assert "warning" not in solved


@pytest.mark.parametrize("after", [1, 2, 3])
def test_after_gives_an_earlier_row_of_the_cost_matrix(after, finished):
    """--after takes the solver after this many tasks."""
    folder = finished("restart", "tsp").folder
    shown = json.loads(call("evaluate", folder, "--after", after, "--json").out)
    assert list(shown.values()) == costs(folder)[after - 1]


def test_evaluate_takes_files(finished, tmp_path):
    """All instances of a file count; --scale divides coordinates in any unit."""
    folder = finished().folder
    drawn = np.random.default_rng(0)
    fields = {"depot": drawn.random((3, 1, 2)), "demand": drawn.integers(1, 5, (3, 6))}
    fields |= {"nodes": drawn.random((3, 6, 2)), "capacity": np.array(20)}
    fields["depot"][:, 0], fields["nodes"][:, 0] = (0.0, 0.0), (1.0, 1.0)  # fills the unit square
    unit, metres = tmp_path / "unit.npz", tmp_path / "metres.npz"
    np.savez(unit, **fields)
    far = {name: 5000 + 800 * fields[name] for name in ("depot", "nodes")}
    np.savez(metres, **(fields | far))
    given = ("evaluate", folder, "--json", "--files")
    plain = json.loads(call(*given, unit).out)
    assert list(plain) == [str(unit)]
    refused = call(*given, metres)
    assert refused.status == 2
    assert "metres.npz: depot: expected coordinates in the unit square" in refused.err
    scaled = json.loads(call(*given, metres, "--scale").out)
    assert scaled[str(metres)] == pytest.approx(plain[str(unit)], rel=1e-5)
    both = json.loads(call(*given, unit, "--files", FIXTURES / "four.vrp", "--task", "E7").out)
    assert list(both) == ["E7", str(unit), str(FIXTURES / "four.vrp")]
    first = json.loads(call(*given, unit, "--tests", 1).out)
    assert first[str(unit)] != plain[str(unit)]
    assert "--scale: expected --files" in call("evaluate", folder, "--scale").err


def test_instances_of_several_sizes_have_a_line_for_each(finished, tmp_path):
    """Their common mean says more about the mix of sizes than about the solver."""
    drawn, folder = np.random.default_rng(0), finished().folder
    for name, count, size in (("a", 2, 5), ("b", 1, 9)):
        places = {"depot": drawn.random((count, 1, 2)), "nodes": drawn.random((count, size, 2))}
        np.savez(tmp_path / f"{name}.npz", **places, demand=np.full((count, size), 0.3))
    both, small, large = (
        call("evaluate", folder, "--files", tmp_path / name).out.splitlines()
        for name in ("", "a.npz", "b.npz")
    )
    (five,), (nine,) = small, large
    means = [float(line.split()[-1]) for line in (both[0], five, nine)]
    assert means[0] == pytest.approx((2 * means[1] + means[2]) / 3, abs=1e-4)
    assert both[1:] == [
        f"  size 5: {means[1]:.4f} (2 instances)",
        f"  size 9: {means[2]:.4f} (1 instance)",
    ]


def test_evaluate_takes_chosen_and_new_tasks(finished):
    """A task is a name of the run, or a distribution and a size."""
    folder = finished().folder
    chosen = ("--task", "E7", "--task", "GM:8", "--task", "U:6")
    shown = json.loads(call("evaluate", folder, *chosen, "--json").out)
    assert list(shown) == ["E7", "GM8", "U6"]
    assert [shown["U6"], shown["E7"]] == costs(folder)[-1][:2]
    more = json.loads(call("evaluate", folder, "--task", "U:6", "--tests", 20, "--json").out)
    assert more["U6"] != shown["U6"]
    best = json.loads(call("evaluate", folder, "--task", "U:6", "--augment", "--json").out)
    assert best["U6"] <= shown["U6"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--task", "U9"), "Unknown task 'U9'; expected one of: U6, E7, U6 (2). Did you mean"),
        (("--task", "X:9"), "Unknown distribution 'X'; expected one of: U, GM, E, C, G, R"),
        (("--task", "U:1"), "expected at least 2 nodes, got 1"),
        (("--after", 4), "tasks learned: expected 1 to 3, got 4"),
        (("--device", "gpu"), "--device: expected auto, cpu, cuda or cuda:1, …, got 'gpu'"),
    ],
)
def test_unknown_task_to_evaluate_is_refused(arguments, expected, finished):
    """The error is one line with the unknown name; no result is printed."""
    refused = call("evaluate", finished().folder, *arguments)
    assert (refused.status, refused.out) == (2, "")
    [line] = refused.err.splitlines()
    assert expected in line


def test_after_a_task_not_yet_learned_is_refused(finished, tmp_path):
    """The run has not finished the task of --after."""
    folder = tmp_path / "run"
    shutil.copytree(finished().folder, folder)
    shutil.rmtree(folder / "checkpoints" / "after-task-2")
    refused = call("evaluate", folder, "--after", 2)
    assert refused.status == 2
    assert "found none; has the run finished 2 tasks?" in refused.err


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write three instances as arrays, two as CVRPLIB files, and a sequence of both."""
    root = tmp_path_factory.mktemp("from files")
    (root / "data" / "town").mkdir(parents=True)
    rng = np.random.default_rng(0)
    np.savez(
        root / "data" / "three.npz",
        depot=rng.random((3, 1, 2)),
        nodes=rng.random((3, 6, 2)),
        demand=rng.integers(1, 10, (3, 6)),
        capacity=20,
    )
    text = (FIXTURES / "four.vrp").read_text()
    (root / "data" / "town" / "four.vrp").write_text(text)
    other = text.replace("NAME : four", "NAME : other").replace("2 3 4", "2 3 5")
    (root / "data" / "town" / "other.vrp").write_text(other)
    (root / "tasks.toml").write_text(FROM_FILES)
    return root


def test_run_learns_and_evaluates_tasks_from_files(data, tmp_path):
    """Paths are relative to the task file; task names come from the files."""
    folder = tmp_path / "run"
    done = call(*run_options(data / "tasks.toml", "llr-bc", "cvrp"), "--out", folder)
    assert done.status == 0, done.err
    stored = RunFolder(folder).config().tasks
    assert [task.label for task in stored] == ["three", "town"]
    assert stored[0].files == str((data / "data" / "three.npz").resolve())
    shown = json.loads(call("evaluate", folder, "--json").out)
    assert list(shown.values()) == costs(folder)[-1]
    one = json.loads(call("evaluate", folder, "--task", "three", "--tests", 1, "--json").out)
    assert one["three"] != shown["three"]  # fewer of the files' instances


def test_batch_larger_than_its_file_is_drawn_with_replacement(data):
    """The batch holds only instances of the file."""
    task = read_tasks(data / "tasks.toml")[0]
    draw = training(task, lco.problem("cvrp"))
    nodes = draw(generator(0, "test"), 50).nodes.flatten(1)
    with np.load(data / "data" / "three.npz") as file:
        stored = {tuple(row) for row in file["nodes"].astype(np.float32).reshape(3, -1).tolist()}
    assert {tuple(row) for row in nodes.tolist()} == stored
    assert len(nodes) == 50


def test_tasks_shows_presets_orders_and_a_valid_example(tmp_path):
    """The example of a task file can be read."""
    shown = call("tasks").out
    for name, preset in presets.PRESETS.items():
        assert f"{name}: {preset.summary}" in shown
    assert "  1: E C G U R GM" in shown
    assert "  5: G C R U GM E" in shown
    example = tmp_path / "tasks.toml"
    example.write_text(shown.partition("(--tasks FILE):")[2])
    assert [task.label for task in read_tasks(example)] == ["U20", "my town"]
    one = call("tasks", "--preset", "demo").out
    assert "demo: " in one
    assert "paper: " not in one
    assert "Unknown preset 'dmo'" in call("tasks", "--preset", "dmo").err


def test_plot_of_tasks_does_not_replace_a_file(tmp_path):
    """--plot writes the same PNG for the same seed."""
    plots = [tmp_path / f"{name}.png" for name in "abc"]
    for seed, plot in zip((0, 0, 1), plots, strict=True):
        assert call("tasks", "--plot", plot, "--seed", seed).out == f"plot: {plot}\n"
    one, two, three = (plot.read_bytes() for plot in plots)
    assert one.startswith(PNG)
    assert one == two != three
    for place in (plots[2], tmp_path / "absent" / "d.png"):
        refused = call("tasks", "--plot", place, "--seed", 0)
        assert refused.status == 2
        assert refused.err.startswith(f"lifelong-co: {place}: ")
    assert plots[2].read_bytes() == three


def test_plugins_lists_all_our_components():
    """Each name has kind, owner and version."""
    listing = json.loads(call("plugins", "--json").out)
    ours = {(c["kind"], c["name"]) for c in listing["components"] if c["owner"] == "lifelong-co"}
    assert {("solver", "pomo"), ("method", "llr-bc"), ("distribution", "GM")} <= ours
    assert {c["version"] for c in listing["components"] if c["owner"] == "lifelong-co"} == {"0.1.0"}
    assert listing["clashes"] == []
    assert "llr-bc" in call("plugins").out
