"""The arithmetic of the programs that measure times."""

from contextlib import nullcontext
from types import SimpleNamespace

from lifelong_co.tasks.task import Task


def test_ratio_of_a_method_is_its_time_by_that_of_fine_tuning(program):
    """Over all tasks, and over those of each size."""
    steps = program("method_steps")
    budget = {"epochs": 1, "batches": 1, "batch_size": 1}
    tasks = tuple(Task(distribution="U", size=size, **budget) for size in (20, 40))
    found = {steps.BASE: {0: 1.0, 1: 3.0}, "other": {0: 3.0, 1: 3.0}}
    of_base, of_other = steps.ratios("tsp", found, tasks)
    assert of_base == {"problem": "tsp", "method": steps.BASE} | dict.fromkeys(
        ("all tasks", "n = 20", "n = 40"), 1.0
    )
    assert [of_other[key] for key in ("all tasks", "n = 20", "n = 40")] == [1.5, 3.0, 1.0]


def test_epochs_that_were_left_out_take_as_long_as_the_later_ones(program):
    """The first epoch of a task counts once: it may be slower."""
    history = [
        {"learning": task, "seconds": seconds} for task in (0, 1) for seconds in (5.0, 1.0, 2.0)
    ]
    seconds = program("whole_runs").seconds(SimpleNamespace(history=history), 10)
    assert seconds == 2 * (5 + 9 * 1.5)


def test_ratio_is_the_median_over_turns(program):
    """The first times by the second ones."""
    timing = program("timing")
    assert timing.ratio([3.0], [2.0]) == timing.Ratio(1.5, 1.5, 1.5)
    assert timing.ratio([2.0, 6.0, 4.0], [2.0, 2.0, 2.0]).median == 2.0


def test_smoke_run_fails_below_a_share_of_the_stored_ratio(program):
    """Or, with an upper bound, above its inverse."""
    marks = program("marks")
    share = marks.LOSS
    lower, upper = marks.Mark("a", {20: 1.0}), marks.Mark("a", {20: 1.0}, upper=True)
    assert lower.lost(share * 2 - 0.01, 2.0)
    assert not lower.lost(share * 2 + 0.01, 2.0)
    assert upper.lost(2 / share + 0.01, 2.0)
    assert not upper.lost(2 / share - 0.01, 2.0)
    assert (lower.held(0.9, 20), lower.held(1.1, 20)) == (False, True)
    assert (upper.held(0.9, 20), upper.held(1.1, 20)) == (True, False)


def test_shares_are_of_the_time_not_of_the_number_of_operations(program, monkeypatch):
    """Operations of a kind are added; two steps warm up before the one that is watched."""
    where, steps = program("where"), []
    times = {"aten::addmm": 5, "aten::linear": 1, "aten::relu": 2, "aten::sort": 2}
    events = [SimpleNamespace(key=key, self_cpu_time_total=time) for key, time in times.items()]
    watched = SimpleNamespace(key_averages=lambda: events)

    def profile(**_):
        steps.append("watched")
        return nullcontext(watched)

    monkeypatch.setattr(where, "profile", profile)
    found = where.shares(lambda: steps.append("step"))
    assert found == {"linear maps": 0.6, "ReLU": 0.2, where.REST: 0.2}
    assert steps == ["step", "step", "watched", "step"]
