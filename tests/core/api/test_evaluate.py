"""`lco.evaluate` tests the solver of a run."""

import json

import attrs
import imported_starts
import numpy as np
import pytest
import torch
from command_line import call
from paths import FIXTURES
from tiny_runs import MODEL

import lifelong_co as lco
from lifelong_co.api.evaluate import chosen_tasks, find
from lifelong_co.tasks.task import Task


def test_tasks_of_the_run_have_the_costs_of_its_last_test(tiny):
    """The last row of the cost matrix, also by the name of the folder."""
    costs = lco.evaluate(tiny.folder, device="cpu")
    assert list(costs.values()) == tiny.costs[-1]
    for after in (1, np.int64(1)):
        assert lco.evaluate(tiny, ["U6"], after=after, device="cpu") == {"U6": tiny.costs[0][1]}


def test_new_tasks_have_the_costs_of_the_command(tiny):
    """By name, and as an object."""
    options = ("--task=U:7", "--tests=2", "--device=cpu", "--json")
    done = call("evaluate", tiny.folder, *options)
    task = lco.Task(distribution="U", size=7, epochs=1, batches=1, batch_size=1)
    for given in ("U:7", task):
        assert lco.evaluate(tiny, [given], tests=2, device="cpu") == json.loads(done.out)


def test_files_have_the_costs_of_the_command(tiny):
    """Alone, and beside tasks."""
    file = FIXTURES / "five.tsp"
    done = call("evaluate", tiny.folder, "--files", file, "--device=cpu", "--json")
    costs = lco.evaluate(tiny, files=[file], device="cpu")
    assert costs == json.loads(done.out)
    assert list(lco.evaluate(tiny, ["U6"], files=[file], device="cpu")) == ["U6", *costs]


def test_a_file_given_twice_has_two_costs(tiny):
    """No cost takes the place of another one; the command prints the same."""
    file = FIXTURES / "five.tsp"
    costs = lco.evaluate(tiny, files=[file, file], device="cpu")
    assert list(costs) == [str(file), f"{file} (2)"]
    done = call("evaluate", tiny.folder, "--files", file, "--files", file, "--device=cpu", "--json")
    assert json.loads(done.out) == costs


def test_name_of_the_run_comes_before_a_distribution_and_a_size():
    """A user's task may be called `orders:2024`, or even `U:20`."""
    own = Task(name="orders:2024", distribution="E", size=7, epochs=1, batches=1, batch_size=1)
    for name in ("orders:2024", "U:20"):
        assert find(name, [attrs.evolve(own, name=name)]).size == 7
    assert find("U:20", [own]).size == 20


def test_unknown_task_is_refused(tiny):
    """The error lists the tasks of the run."""
    with pytest.raises(lco.UnknownNameError, match="U5, U6"):
        lco.evaluate(tiny, ["U9"], device="cpu")


def test_tasks_of_one_name_both_have_a_cost(tiny):
    """Two tasks that differ in a field have the same label; the second one gets a number."""
    tasks = [
        lco.Task(distribution="U", size=7, epochs=1, batches=1, batch_size=1, distance=distance)
        for distance in ("euclidean", "manhattan")
    ]
    tasks = [attrs.evolve(task, name="U7") for task in tasks]
    costs = lco.evaluate(tiny, tasks, tests=2, device="cpu")
    assert len(costs) == 2
    assert len(set(costs.values())) == 2


@pytest.mark.parametrize("tests", [0, 1.5, True])
def test_number_of_tests_must_be_positive(tests, tiny):
    """0 does not mean the number of the run."""
    message = f"tests: expected a whole number of at least 1, got {tests}"
    with pytest.raises(lco.ConfigError, match=message):
        lco.evaluate(tiny, tests=tests, device="cpu")


@pytest.mark.parametrize("option", ["augment", "scale"])
def test_text_is_no_boolean(option, tiny):
    """The text ``false`` would mean true."""
    with pytest.raises(lco.ConfigError, match=f"{option}: expected true or false, got 'false'"):
        lco.evaluate(tiny, device="cpu", **{option: "false"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tasks": "U5"}, "tasks: expected a list of names or .*, got 'U5'"),
        ({"tasks": [5]}, "tasks: expected names or lifelong_co.Task objects, got 5"),
        ({"files": "five.tsp"}, "files: expected a list of paths, got 'five.tsp'"),
        ({"tasks": []}, "tasks: expected at least one task, or None"),
        ({"files": FIXTURES}, "files: expected a list of paths, got "),
    ],
)
def test_one_thing_in_place_of_a_list_is_refused(given, message, tiny):
    """A text is no list of letters."""
    with pytest.raises(lco.ConfigError, match=message):
        lco.evaluate(tiny, **given, device="cpu")


def of_a_file(path, seed, count=8):
    """Write instances, and return a task that learns them."""
    drawn = lco.distribution("U", problem="tsp").sample(
        count, 5, generator=torch.Generator().manual_seed(seed)
    )
    np.savez(path, nodes=drawn.nodes.numpy())
    return lco.Task(files=str(path), name="mine", epochs=1, batches=1, batch_size=2)


def test_task_of_a_file_has_the_tests_of_the_run_under_any_label(tmp_path):
    """Behind another task of its name it gets a number, and the same cost."""
    mine = of_a_file(tmp_path / "a.npz", 1)
    other = of_a_file(tmp_path / "b.npz", 2)
    options = {"tests": 3, "device": "cpu", "solver_options": MODEL, "progress": False}
    run = lco.learn(problem="tsp", tasks=[mine], out=tmp_path / "run", **options)
    first = lco.evaluate(run, ["mine", other], device="cpu")
    last = lco.evaluate(run, [other, "mine"], device="cpu")
    assert first["mine"] == last["mine (2)"] == run.costs[0][0]
    assert first["mine (2)"] == last["mine"]


def test_relative_files_are_those_of_the_run(tmp_path, monkeypatch):
    """Under the label that the run has, and with as many tests; a folder keeps its dot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "2024.06").mkdir()
    of_a_file(tmp_path / "2024.06" / "orders.npz", 1)
    task = lco.Task(files="2024.06", epochs=1, batches=1, batch_size=2)
    options = {"tests": 1, "device": "cpu", "solver_options": MODEL, "progress": False}
    run = lco.learn(problem="tsp", tasks=[task], out="run", **options)
    assert lco.evaluate(run, [task], device="cpu") == {"2024.06": run.costs[0][0]}


def test_changed_file_of_a_task_is_warned_of(tmp_path):
    """The costs are those of other instances than in the run."""
    task = of_a_file(tmp_path / "a.npz", 1)
    options = {"tests": 3, "device": "cpu", "solver_options": MODEL, "progress": False}
    run = lco.learn(problem="tsp", tasks=[task], out=tmp_path / "run", **options)
    of_a_file(tmp_path / "a.npz", 2)
    with pytest.warns(UserWarning, match=r"task mine: .*another content.*of other instances"):
        lco.evaluate(run, device="cpu")


def test_task_of_other_files_with_a_label_of_the_run_is_no_change(tmp_path):
    """The file of the run may be changed or gone: it is not tested."""
    (tmp_path / "new").mkdir()
    task = of_a_file(tmp_path / "mine.npz", 1)
    options = {"tests": 3, "device": "cpu", "solver_options": MODEL, "progress": False}
    run = lco.learn(problem="tsp", tasks=[task], out=tmp_path / "run", **options)
    other = of_a_file(tmp_path / "new" / "mine.npz", 2)
    of_a_file(tmp_path / "mine.npz", 3)
    found = lco.evaluate(run, [other], device="cpu")
    (tmp_path / "mine.npz").unlink()
    assert lco.evaluate(run, [other], device="cpu") == found


def test_global_random_stream_is_left_alone(tiny):
    """What a notebook draws next does not depend on a test."""
    before = torch.get_rng_state()
    lco.evaluate(tiny, device="cpu")
    assert torch.equal(torch.get_rng_state(), before)


def test_imported_checkpoint_is_tested(tmp_path):
    """A folder of parameters that no run has learned is tested as by the command."""
    imported_starts.write(tmp_path / "imported")
    costs = lco.evaluate(tmp_path / "imported", device="cpu")
    options = ("--device=cpu", "--json")
    assert costs == json.loads(call("evaluate", tmp_path / "imported", *options).out)


def test_task_of_files_that_drifts_has_no_capacity_of_its_tests():
    """Its capacity is that of the distribution it drifts from."""
    budget = {"epochs": 1, "batches": 1, "batch_size": 2}
    town = lco.Task(files="town.npz", size=20, capacity=30, drift_from="U", name="town", **budget)
    assert chosen_tasks(["town"], [town]) == [town]
