"""Which runs a sweep's estimate takes to be as fast as each other, and how it knows of others."""

import json
import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest
from tiny_runs import tiny_config

from lifelong_co.config.run_config import from_toml
from lifelong_co.experiments.sweep import estimate
from lifelong_co.experiments.sweep.grid import Grid, Variant
from lifelong_co.experiments.sweep.kinds import Kind, kind, time_of
from lifelong_co.experiments.sweep.plan import Plan, make_plan

POMO = Kind("cvrp", "pomo", "llr-bc", 20, 64, "a")


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Plan one run each of four variants of llr-bc, which differ in what they replay."""
    grid = Grid(
        methods=("llr-bc",),
        ablations=("IB", "EE"),
        variants=(Variant(name="whole", options={"replay_size": 4, "replay_rows": 1.0}),),
        preset="demo",
        device="cpu",
    )
    return make_plan([grid], tmp_path / "sweep")


def test_what_a_run_replays_and_its_model_make_its_kind() -> None:
    """Options and settings that make steps slower tell kinds apart; the seed and weights do not."""
    config = tiny_config(replay_size=4, replay_rows=1.0)
    [task] = {*tiny_config(sizes=(5,)).tasks}
    others = [
        tiny_config(replay_rows=1.0, replay_size=5),
        tiny_config(ablation="IB"),
        attrs.evolve(config, solver_options={**config.solver_options, "head_num": 1}),
        attrs.evolve(config, precision="bfloat16"),
        attrs.evolve(config, one_pass=True),
        attrs.evolve(config, images=True),
    ]
    assert len({kind(each, task) for each in (config, *others)}) == 1 + len(others)
    turned = tiny_config(replay_rows=1.0, replay_size=4)  # said in another order
    assert kind(attrs.evolve(turned, seed=3, order="x"), task) == kind(config, task)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, 0.0),
        ({POMO: 1.0, attrs.evolve(POMO, settings="b"): 9.0}, 1.0),
        # Its own method and size with other options, rather than its options at another size.
        ({attrs.evolve(POMO, settings="b"): 1.0, attrs.evolve(POMO, size=50): 9.0}, 1.0),
        # Of two sizes that are not its own, the one with its options; of equals, the mean.
        ({attrs.evolve(POMO, size=50): 1.0, attrs.evolve(POMO, size=50, settings="b"): 9.0}, 1.0),
        ({attrs.evolve(POMO, settings="b"): 1.0, attrs.evolve(POMO, settings="c"): 3.0}, 2.0),
        ({attrs.evolve(POMO, size=50): 1.0, attrs.evolve(POMO, method="ewc"): 9.0}, 1.0),
        ({attrs.evolve(POMO, method="ewc"): 1.0, attrs.evolve(POMO, solver="omni"): 9.0}, 1.0),
        ({attrs.evolve(POMO, problem="tsp"): 4.0}, 4.0),
    ],
)
def test_the_kind_most_alike(known: dict[Kind, float], expected: float) -> None:
    """It lends its time to a kind that is not known."""
    assert time_of(known, POMO) == expected


def test_every_variant_is_timed_by_itself(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own options, at every size of its tasks; kept in a file, none is timed again."""
    timed: list[dict[str, Any]] = []

    def measure(command: list[str], **given: Any) -> Any:
        assert command[1:] == ["-m", "lifelong_co.experiments.sweep.calibration"]
        configs = [from_toml(text) for text in json.loads(given["input"])]
        timed.extend(config.method_options for config in configs)
        rows = [
            [
                {"size": task.size, "batch_size": task.batch_size, "step": 2.0**i, "test": 0.0}
                for task in config.tasks
            ]
            for i, config in enumerate(configs)
        ]
        return subprocess.CompletedProcess(command, 0, json.dumps(rows), "")

    monkeypatch.setattr(estimate.subprocess, "run", measure)
    cache = plan.folder / "timing.json"
    plan.folder.mkdir()
    known = estimate.timing(plan, cache)
    jobs = list(plan.jobs.values())
    # What they share is fine-tuning, timed before them, as a kind of its own.
    assert timed == [{}, *(job.config.method_options for job in jobs)]
    known = attrs.evolve(known, besides=0.0)
    steps = sum(task.epochs * task.batches for task in jobs[0].config.tasks)
    for i, job in enumerate(jobs, start=1):
        assert known.seconds(attrs.evolve(job, parts={})) == pytest.approx(steps * 2.0**i)
    again = estimate.timing(plan, cache)
    assert len(timed) == 5
    assert (again.steps, again.tests) == (known.steps, known.tests)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"kinds": 3}',
        '{"besides": 1.0, "kinds": [["cvrp", "pomo", "ewc", 20, 64, 0.1, 0.1]]}',
        '{"besides": 1.0, "kinds": [["cvrp", "pomo", "ewc", 20, 64, "{}", "soon", 0.1]]}',
    ],
)
def test_a_file_of_timed_steps_that_is_torn_or_another_versions(text: str, tmp_path: Path) -> None:
    """It is as if there were none: kinds without their options are nobody's."""
    assert estimate.read_timing(tmp_path / "missing") == estimate.Timing()
    (tmp_path / "timing.json").write_text(text)
    assert estimate.read_timing(tmp_path / "timing.json") == estimate.Timing()
