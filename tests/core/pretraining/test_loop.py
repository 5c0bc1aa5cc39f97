"""The loop of a pretraining: what it teaches, logs and leaves behind."""

import json
import math
import re
import shutil
from pathlib import Path
from unittest.mock import Mock

import attrs
import pytest
from tiny_pretraining import FAMILY, tiny
from tiny_runs import MODEL, same

from lifelong_co.errors import (
    IMPORTED,
    PRETRAINED,
    ConfigError,
    FolderError,
    Interrupted,
    InvalidRolloutError,
    NotFiniteError,
)
from lifelong_co.pretraining import loop
from lifelong_co.pretraining.algorithms import ALGORITHMS
from lifelong_co.runs import folder as starts
from lifelong_co.runs import imports
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.storage import checkpoint

each = pytest.mark.parametrize("algorithm", ALGORITHMS)


@each
def test_meta_training_shortens_the_tours(algorithm, family, tmp_path):
    """With a tiny network the costs of every task fall, before and after adaptation to it."""
    family.write_text(FAMILY.replace("size = 5", "size = 9").replace("size = 6", "size = 8"))
    config = tiny(
        family,
        algorithm,
        iterations=15,
        validate_every=15,
        inner_steps=1,
        inner_learning_rate=3e-3,
        meta_learning_rate=1.0 if algorithm == "reptile" else 3e-3,
    )
    first, last = loop.pretrain(attrs.evolve(config, tests=32), tmp_path / "run").history
    for costs in ("costs", "adapted_costs"):
        assert all(last[costs][task] < 0.97 * first[costs][task] for task in ("U9", "E8"))


def test_log_has_one_line_per_validation(family, tmp_path):
    """The first line comes before the first iteration, the last after the last one."""
    said = []
    loop.pretrain(tiny(family, iterations=5), tmp_path / "run", log=said.append)
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [entry["iteration"] for entry in log] == [0, 2, 4, 5]
    assert all(entry["costs"].keys() == entry["adapted_costs"].keys() for entry in log)
    assert list(log[0]["costs"]) == ["U5", "E6"]
    assert log[0].keys() == {"iteration", "costs", "adapted_costs"}
    assert log[1].keys() == log[0].keys() | {"train_cost", "losses", "seconds"}
    assert said[-1].startswith("iteration 5/5: cost, adapted: U5 ")


def test_validation_changes_no_state(family, tmp_path):
    """Parameters, running statistics and gradients are the same afterwards."""
    config = tiny(family, solver="omni")
    config = attrs.evolve(config, solver_options={**MODEL, "norm": "batch"})
    state = loop.start(config, tmp_path / "run")
    loop.iterate(state)  # so that the running statistics are not the initial ones
    before = {name: value.clone() for name, value in state.solver.module.state_dict().items()}
    assert any("running_mean" in name for name in before)
    first = loop.validate_task(state, 0)
    after = state.solver.module.state_dict()
    assert same(before, after)
    assert loop.validate_task(state, 0) == first


def test_result_can_start_another_pretraining(family, tmp_path):
    """`load_solver` reads it; the other pretraining resumes even when it is deleted."""
    done = loop.pretrain(tiny(family), tmp_path / "one")
    found = load_solver(tmp_path / "one").module.state_dict()
    assert same(found, done.solver.module.state_dict())
    config = attrs.evolve(tiny(family), start_from=str(tmp_path / "one"))
    with pytest.raises(Interrupted):
        loop.pretrain(config, tmp_path / "two", stop=lambda: True)
    shutil.rmtree(tmp_path / "one")
    second = loop.pretrain(config, tmp_path / "two", resume=True)
    assert second.history[0]["costs"] == done.history[-1]["costs"]


def test_start_that_has_learned_on_is_refused(family, tmp_path, monkeypatch):
    """By a pretraining that was killed before its first checkpoint: it takes over again."""
    loop.pretrain(tiny(family), tmp_path / "one")
    config = attrs.evolve(tiny(family), start_from=str(tmp_path / "one"))
    monkeypatch.setattr(loop, "validate", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        loop.pretrain(config, tmp_path / "two")
    with pytest.raises(KeyboardInterrupt):
        loop.pretrain(config, tmp_path / "two", resume=True)
    newest = checkpoint.checkpoints(tmp_path / "one" / "checkpoints")[-1]
    checkpoint.save(newest.parent, 9, checkpoint.load(newest))
    with pytest.raises(ConfigError, match=r"^start_from: expected the checkpoint that .*one had"):
        loop.pretrain(config, tmp_path / "two", resume=True)


def test_batches_have_the_batch_size(family, tmp_path, monkeypatch):
    """Also with one batch of a smaller last size: a pretraining has no last batch."""
    family.write_text(FAMILY.replace("batch_size = 4", "batch_size = 4\nlast_batch_size = 2"))
    state, sizes = loop.start(tiny(family), tmp_path / "run"), []
    draw = type(state.stream).batch

    def noted(*arguments):
        sizes.append(len((drawn := draw(*arguments)).nodes))
        return drawn

    monkeypatch.setattr(type(state.stream), "batch", noted)
    loop.iterate(state)
    assert set(sizes) == {4}


def test_resumed_pretraining_says_that_a_plugin_has_changed(family, tmp_path, monkeypatch):
    """In one line, as a run does."""
    monkeypatch.setattr(loop, "plugins_used", lambda config: {"mine": "0.1 3f2a"})  # noqa: ARG005
    with pytest.raises(Interrupted):
        loop.pretrain(tiny(family), tmp_path / "run", stop=lambda: True)
    monkeypatch.setattr(loop, "plugins_used", lambda config: {"mine": "0.1 77ab"})  # noqa: ARG005
    said = []
    loop.pretrain(tiny(family), tmp_path / "run", resume=True, log=said.append)
    (warning,) = [line for line in said if line.startswith("warning:")]
    assert "(mine: 0.1 3f2a before, 0.1 77ab now)" in warning


def test_pretraining_and_import_are_no_lifelong_runs(family):
    """The error names the kind of the folder, for every algorithm and the import."""
    for method in (*ALGORITHMS, imports.METHOD):
        config = attrs.evolve(tiny(family), method=method)
        with pytest.raises(FolderError, match="folder: expected a lifelong run") as refused:
            starts.refuse_start(config, Path("folder"))
        assert refused.value.found == (PRETRAINED if method in ALGORITHMS else IMPORTED)
    starts.refuse_start(attrs.evolve(config, method="llr-bc"), Path("folder"))


@each
@pytest.mark.parametrize("where", ["loss", "parameter", "validation"])
def test_number_that_is_not_finite_stops_the_pretraining(algorithm, where, family, tmp_path):
    """Nothing of the iteration is saved, and a resumed pretraining stops there again."""
    config = tiny(family, algorithm)
    messages = []
    for resume in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "start", poisoned(where))
            if where == "validation":  # as if the numbers of the steps were not read
                patch.setattr(loop, "fault", lambda where, numbers: None)  # noqa: ARG005
            expected = InvalidRolloutError if where == "validation" else NotFiniteError
            with pytest.raises(expected) as stopped:
                loop.pretrain(config, tmp_path / "run", resume=resume)
        messages.append(str(stopped.value))
        kept = checkpoint.latest(tmp_path / "run" / "checkpoints")
        assert checkpoint.step_of(kept[0]) == 0
        assert all(x.isfinite().all() for x in kept[1]["parameters"].values())
    assert messages[0] == messages[1]
    if where == "validation":
        assert "test of task U5 after iteration 2" in stopped.value.__notes__[0]
        assert "by solver 'pomo'; nothing of it is saved" in stopped.value.__notes__[0]
    else:
        named = {"loss": "task .*: the loss term 'policy'", "parameter": ": the norm of the param"}
        assert re.search(f"iteration 2.*{named[where]}.* meta_learning_rate .now", messages[0])


def poisoned(where):
    """Return a `start` of a pretraining in which something is NaN in the second iteration."""

    def begin(config, folder):
        state = start(config, folder)
        policy, step = state.objective.loss, state.learner.optimizer.step

        def loss(instances, rollout):
            bad = where == "loss" and state.iteration == 1
            return policy(instances, rollout) * (math.nan if bad else 1)

        def spoiling():
            step()
            if where != "loss" and state.iteration == 1:
                for parameter in state.theta.values():
                    parameter.data.fill_(math.nan)

        state.objective = attrs.evolve(state.objective, loss=loss)
        state.learner.optimizer.step = spoiling
        return state

    start = loop.start
    return begin
