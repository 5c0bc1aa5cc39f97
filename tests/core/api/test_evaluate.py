"""`lco.evaluate` tests the solver of a run."""

import json

import pytest
from command_line import call

import lifelong_co as lco


def test_tasks_of_the_run_have_the_costs_of_its_last_test(tiny):
    """The last row of the cost matrix, also by the name of the folder."""
    costs = lco.evaluate(tiny.folder, device="cpu")
    assert list(costs.values()) == tiny.costs[-1]
    assert lco.evaluate(tiny, ["U6"], after=1, device="cpu") == {"U6": tiny.costs[0][1]}


def test_new_tasks_have_the_costs_of_the_command(tiny):
    """By name, and as an object."""
    options = ("--task=U:7", "--tests=2", "--device=cpu", "--json")
    done = call("evaluate", tiny.folder, *options)
    task = lco.Task(distribution="U", size=7, epochs=1, batches=1, batch_size=1)
    for given in ("U:7", task):
        assert lco.evaluate(tiny, [given], tests=2, device="cpu") == json.loads(done.out)


def test_unknown_task_is_refused(tiny):
    """The error lists the tasks of the run."""
    with pytest.raises(lco.UnknownNameError, match="U5, U6"):
        lco.evaluate(tiny, ["U9"], device="cpu")
