"""What a run takes over is pinned when the run is made."""

import attrs
import pytest
from tiny_runs import same, tiny_config, tiny_learn

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.learner import learn
from lifelong_co.runs import starts
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.storage import checkpoint
from lifelong_co.storage.appended import checksum_file


@pytest.fixture
def config(tmp_path):
    """Return the configuration of a run that takes over parameters and experiences."""
    place = str(tiny_learn(tiny_config(), tmp_path / "first").folder.path)
    return attrs.evolve(tiny_config(), start_from=place, buffer_from=place, seed=1)


def learns_on(place):
    """Add a newer checkpoint to a run, with other parameters."""
    path = checkpoint.checkpoints(RunFolder(place).checkpoints)[-1]
    state = checkpoint.load(path)
    state["parameters"] = {name: value + 0.01 for name, value in state["parameters"].items()}
    checkpoint.save(path.parent, checkpoint.step_of(path) + 1, state)


def test_hashes_are_those_of_the_newest_checkpoints(config, tmp_path):
    """They are stored once, and only if there is something to take over."""
    path = checkpoint.checkpoints(RunFolder(tmp_path / "first" / "run").checkpoints)[-1]
    digest = checksum_file(path).read_text().split()[0]
    assert starts.present(config) == {"start_from": digest, "buffer_from": digest}
    starts.keep(tmp_path, starts.present(config))
    learns_on(tmp_path / "first" / "run")
    starts.keep(tmp_path, starts.present(config))
    assert starts.read(tmp_path) == {"start_from": digest, "buffer_from": digest}
    assert starts.present(config)["start_from"] != digest
    (tmp_path / "fresh").mkdir()
    starts.keep(tmp_path / "fresh", {**starts.present(tiny_config()), "start_from": ""})
    assert starts.read(tmp_path / "fresh") == {}
    assert list((tmp_path / "fresh").iterdir()) == []


def test_run_without_a_checkpoint_is_not_resumed_from_another_start(config, tmp_path):
    """The other run has learned on meanwhile, so the result would be another one."""
    run = prepare(config, tmp_path / "second")
    parameters = run.learner.solver.module.state_dict()
    again = prepare(config, tmp_path / "second", resume=True)
    assert same(again.learner.solver.module.state_dict(), parameters)
    learns_on(tmp_path / "first" / "run")
    with pytest.raises(ConfigError, match=r"^start_from: expected the checkpoint that .*first"):
        prepare(config, tmp_path / "second", resume=True)
    checkpoint.checkpoints(RunFolder(tmp_path / "first" / "run").checkpoints)[-1].unlink()
    learn(prepare(config, tmp_path / "second", resume=True))
    learns_on(tmp_path / "first" / "run")
    prepare(config, tmp_path / "second", resume=True)  # it has what it needs


def test_checkpoint_that_was_taken_is_pinned(config, tmp_path):
    """Not the newest one, which may be damaged, or be saved while the run begins."""
    place = tmp_path / "first" / "run"
    taken = starts.present(config)
    learns_on(place)
    newest = checkpoint.checkpoints(RunFolder(place).checkpoints)[-1]
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-1])
    with pytest.warns(checkpoint.CheckpointWarning):
        prepare(config, tmp_path / "second")
    assert starts.read(tmp_path / "second") == taken
    newest.write_bytes(whole)
    with pytest.raises(ConfigError, match=r"^start_from: expected"):
        prepare(config, tmp_path / "second", resume=True)


def test_damaged_file_is_named(tmp_path):
    """Nothing is guessed."""
    for text in ("{", "[]", "\xff", "[" * 100_000):
        (tmp_path / starts.FILE).write_text(text, encoding="latin-1")
        with pytest.raises(FileFormatError, match=r"starts\.json: expected an object of settings"):
            starts.read(tmp_path)
