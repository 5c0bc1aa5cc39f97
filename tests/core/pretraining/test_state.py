"""The state of a pretraining: saved, resumed, started from another, and refused."""

import json
from pathlib import Path

import attrs
import numpy as np
import pytest
import torch
from tiny_pretraining import tiny
from tiny_runs import MODEL, same

from lifelong_co import registry
from lifelong_co.errors import (
    CheckpointError,
    ConfigError,
    FolderError,
    Interrupted,
)
from lifelong_co.pretraining import loop, state
from lifelong_co.pretraining.algorithms import ALGORITHMS
from lifelong_co.registry import plugins as present_plugins
from lifelong_co.reinforce import greedy_baseline
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint

each = pytest.mark.parametrize("algorithm", ALGORITHMS)


def saved(folder: Path):
    """Return the last checkpoint and its log, without times."""
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    tree = found[1]
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for entry in (*tree["log"], *log):
        entry.pop("seconds", None)
    tree["sums"].pop("seconds", None)
    assert log == tree["log"]
    return found[0].name, tree


def equal(first, second) -> bool:
    """Return whether two checkpoints hold the same bits."""
    if isinstance(first, torch.Tensor):
        return torch.equal(first, second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(equal(x, second[k]) for k, x in first.items())
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(equal, first, second))
    return bool(first == second)


@each
def test_repeated_and_resumed_pretrainings_end_with_the_same_bits(algorithm, family, tmp_path):
    """One of them stops between two validations and resumes."""
    config = tiny(family, algorithm)
    for name in ("one", "two"):
        loop.pretrain(config, tmp_path / name)
    asked = iter(range(1, 100))
    with pytest.raises(Interrupted, match="resume it from the folder"):
        loop.pretrain(config, tmp_path / "stopped", stop=lambda: next(asked) == 3)
    assert saved(tmp_path / "stopped")[0] == "checkpoint-00000003.safetensors"
    # Killed after that: what has happened since the checkpoint is done again.
    loop.pretrain(RunFolder(tmp_path / "stopped").config(), tmp_path / "stopped", resume=True)
    first = saved(tmp_path / "one")
    assert equal(first, saved(tmp_path / "two"))
    assert equal(first, saved(tmp_path / "stopped"))


def test_damaged_log_is_written_again(family, tmp_path):
    """The checkpoint of a finished pretraining has all of it."""
    loop.pretrain(tiny(family, "reptile"), tmp_path / "one")
    log = tmp_path / "one" / "log.jsonl"
    before = log.read_bytes()
    log.write_bytes(before[:-9])
    loop.pretrain(RunFolder(tmp_path / "one").config(), tmp_path / "one", resume=True)
    assert log.read_bytes() == before


def test_log_grows_at_its_end(family, tmp_path):
    """A line that a killed process wrote after the last checkpoint is cut off."""
    loop.pretrain(tiny(family, "reptile"), tmp_path / "one")
    log = tmp_path / "one" / "log.jsonl"
    before, place = log.read_bytes(), log.stat().st_ino
    with log.open("ab") as file:
        file.write(b'{"iteration": 99')
    loop.pretrain(RunFolder(tmp_path / "one").config(), tmp_path / "one", resume=True)
    assert (log.read_bytes(), log.stat().st_ino) == (before, place)


def test_state_of_the_objective_is_saved(family, tmp_path, fresh_registry, plugin):  # noqa: ARG001
    """A greedy baseline is saved, restored, and replaced at a validation that is better."""
    loaded = []

    @attrs.frozen(eq=False)
    class Greedy:
        pomo: object

        def __getattr__(self, name):
            return getattr(self.pomo, name)

        def objective(self):
            made = greedy_baseline(self.pomo)

            def load(learner, state):
                loaded.append(state)
                made.load_state_dict(learner, state)

            return attrs.evolve(made, load_state_dict=load)

    pomo = present_plugins.catalog().find("solver", "pomo").thing
    registry.register_plugin(
        plugin("register_solvers", "greedy", lambda problem, **o: Greedy(pomo(problem, **o)))
    )
    config = tiny(family, solver="greedy")
    loop.pretrain(config, tmp_path / "one")
    asked = iter(range(1, 100))
    with pytest.raises(Interrupted):
        loop.pretrain(config, tmp_path / "two", stop=lambda: next(asked) == 3)
    assert loaded == []
    loop.pretrain(config, tmp_path / "two", resume=True)
    assert len(loaded) == 1
    one, two = saved(tmp_path / "one"), saved(tmp_path / "two")
    assert equal(one, two)
    initial = loop.start(config, tmp_path / "three").learner.initial
    assert not same(one[1]["objective"]["best"], initial)


def test_start_that_does_not_fit_is_refused(family, tmp_path):
    """The error names parameters of another width, and nothing is written."""
    loop.pretrain(tiny(family, iterations=1), tmp_path / "one")
    config = attrs.evolve(
        tiny(family), start_from=str(tmp_path / "one"), solver_options={**MODEL, "head_num": 4}
    )
    with pytest.raises(CheckpointError, match=r"start_from .*one: does not fit"):
        loop.pretrain(config, tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_folder_of_another_kind_is_refused(family, tmp_path):
    """A lifelong run is not continued as a pretraining, and nothing is overwritten."""
    other = attrs.evolve(tiny(family), method="llr-bc")
    with pytest.raises(ConfigError, match="expected a pretraining by reptile, fomaml, maml"):
        loop.pretrain(other, tmp_path / "run", resume=True)
    loop.pretrain(tiny(family, iterations=1), tmp_path / "run")
    with pytest.raises(FolderError, match="a new or empty folder, got pretrained parameters"):
        loop.pretrain(tiny(family), tmp_path / "run")


def test_changed_settings_are_refused_by_name(family, tmp_path):
    """A pretraining continues with the settings that it was started with."""
    config = tiny(family)
    asked = iter(range(1, 100))
    with pytest.raises(Interrupted):
        loop.pretrain(config, tmp_path / "run", stop=lambda: next(asked) == 3)
    changed = attrs.evolve(config, method_options={**config.method_options, "inner_steps": 3})
    with pytest.raises(CheckpointError, match=r"method_options\.inner_steps: expected 2, got 3"):
        loop.pretrain(changed, tmp_path / "run", resume=True)


def test_images_of_the_objective_are_those_of_the_configuration(family, tmp_path):
    """INViT's trial of its baseline takes them from the stream."""
    config = attrs.evolve(tiny(family), symmetries="random")
    assert state.start(config, tmp_path / "run").stream.symmetries == "random"


def test_pretraining_is_not_resumed_with_other_instances(tmp_path):
    """Its log would have costs of both."""
    file, family = tmp_path / "mine.npz", tmp_path / "family.toml"
    budget = "epochs = 1\nbatches = 1\nbatch_size = 4\n"
    family.write_text(f'{budget}[[tasks]]\nname = "mine"\nfiles = "mine.npz"\n')
    np.savez(file, nodes=np.random.default_rng(0).random((4, 5, 2), dtype=np.float32))
    config = tiny(family)
    with pytest.raises(Interrupted):
        loop.pretrain(config, tmp_path / "run", stop=lambda: True)
    held = file.read_bytes()
    np.savez(file, nodes=np.random.default_rng(1).random((4, 5, 2), dtype=np.float32))
    with pytest.raises(ConfigError, match="task mine: files: expected the content"):
        loop.pretrain(config, tmp_path / "run", resume=True)
    file.write_bytes(held)
    assert loop.pretrain(config, tmp_path / "run", resume=True).iteration == 4
