"""The default variant of a method, and the note on what differs from the preset."""

import attrs
import pytest
from synthetic_chapters import ORDERS
from synthetic_runs import config, write

from lifelong_co.config.resolve import resolve
from lifelong_co.experiments.paper import defaults, metric_tables
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.studies import chapters
from lifelong_co.tasks.task import drifting

USUAL = resolve(method="llr-bc", preset="small", problem="cvrp")


def of_preset(method="llr-bc", **changes):
    """Return the run of a preset, with a few tasks."""
    usual = resolve(method=method, preset="small", problem="cvrp", seed=changes.pop("seed", 0))
    tasks = config(method, ORDERS["1"]).tasks
    return attrs.evolve(usual, **{"tasks": tasks, "tests": 64, **changes})


@pytest.mark.parametrize(
    "other",
    [
        {"learning_rate": 0.05},
        {"objective": "reinforce"},
        {"schedule": "constant"},
        {"method_options": {**USUAL.method_options, "alpha": 7.0}},
        {"tasks": drifting(config("llr-bc", ORDERS["1"]).tasks)},
    ],
    ids=lambda other: next(iter(other)),
)
def test_runs_with_the_settings_of_the_preset_are_the_default(other, tmp_path):
    """Neither the name of the folder nor the number of runs makes another setting the default."""
    for seed in range(2):
        write(tmp_path / f"a{seed}", of_preset(seed=seed, **other))
    write(tmp_path / "b", of_preset())
    (chapter,) = chapters(collect([tmp_path]).runs)
    main, varied = chapter.of("pomo")["cvrp"].variants
    assert [run.path.name for run in main.runs] == ["b"]
    assert len(varied.runs) == 2
    assert not defaults.departures(main.runs[0].config)


def test_of_equals_the_default_has_most_runs(tmp_path):
    """Here no run has the settings of the preset."""
    write(tmp_path / "a", of_preset(learning_rate=0.5))
    for seed in range(2):
        write(tmp_path / f"b{seed}", of_preset(seed=seed, learning_rate=0.25))
    (chapter,) = chapters(collect([tmp_path]).runs)
    assert [v.name for v in chapter.of("pomo")["cvrp"].variants] == [
        "llr-bc",
        "-learning_rate(0.5)",
    ]


def test_a_note_names_methods_that_alone_differ_from_the_preset(tmp_path):
    """What all methods share is not named: it is no difference between the rows."""
    write(tmp_path / "a", of_preset(learning_rate=0.5, objective="reinforce"))
    write(tmp_path / "b", of_preset("fine-tuning", learning_rate=0.5))
    (chapter,) = chapters(collect([tmp_path]).runs)
    (sheet,) = metric_tables.over_orders(chapter)
    assert sheet.note == ("Not as in the preset: llr-bc -objective(reinforce) -learning_rate(0.5).")
    write(tmp_path / "a2", of_preset(learning_rate=0.5))
    (chapter,) = chapters(collect([tmp_path]).runs)
    assert metric_tables.over_orders(chapter)[0].note == ""


def test_a_preset_that_is_unknown_has_no_departures():
    """A run may have been configured in Python."""
    assert defaults.departures(config(preset="mine", learning_rate=0.5)) == {}
