"""Several processes learn one run together, under torchrun, on the CPU."""

from pathlib import Path

import attrs
import pytest
import torch
from command_line import results
from ranked_runs import PROGRAM, gradients, two
from tiny_runs import tiny_config

from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.learner import learn
from lifelong_co.runs.data_parallel import ALONE, Ranks, joined
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import start
from lifelong_co.storage import checkpoint


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of what two processes did."""
    folder = tmp_path_factory.mktemp("ranks")
    two(
        PROGRAM,
        folder,
        "whole",
        "stopped",
        "damaged",
        "ruined",
        "overtaken",
        "not_finite",
        "gradients",
    )
    return folder


def states(folder: Path) -> list[dict]:
    """Return the last checkpoint of each process."""
    places = RunFolder(folder).checkpoints, RunFolder(folder).checkpoints / "rank-1"
    found = [checkpoint.latest(place) for place in places]
    return [state for _, state in found]


def test_processes_share_parameters_and_split_the_buffer(both: Path) -> None:
    """After all steps the parameters are equal; each process holds a shard of the buffer."""
    first, second = states(both / "whole")
    for name, value in first["parameters"].items():
        assert torch.equal(value, second["parameters"][name])
    shards = [state["method"]["buffer"]["items"] for state in (first, second)]
    assert all(unit["behavior"].shape[0] == 2 for shard in shards for unit in shard)  # of B = 4
    nodes = [unit["instances"]["nodes"] for shard in shards for unit in shard]
    ours, theirs = nodes[: len(shards[0])], nodes[len(shards[0]) :]
    assert not any(
        torch.equal(one, other) for one in ours for other in theirs if one.shape == other.shape
    )


def test_run_stopped_by_one_process_resumes_to_the_same_bytes(both: Path) -> None:
    """One process asks to stop; both stop, and both resume."""
    assert results(both / "stopped") == results(both / "whole")
    for one, other in zip(states(both / "stopped"), states(both / "whole"), strict=True):
        for name, value in one["parameters"].items():
            assert torch.equal(value, other["parameters"][name])


def test_damaged_shard_makes_all_processes_resume_earlier(both: Path) -> None:
    """The run resumes from the latest step with a whole checkpoint of every process."""
    assert results(both / "damaged") == results(both / "whole")
    for one, other in zip(states(both / "damaged"), states(both / "whole"), strict=True):
        for name, value in one["parameters"].items():
            assert torch.equal(value, other["parameters"][name])


def test_state_of_the_same_step_but_another_moment_makes_all_resume_earlier(both: Path) -> None:
    """The first process was killed between two saves of the last step, and the second one not."""
    assert results(both / "overtaken") == results(both / "complete")
    for one, other in zip(states(both / "overtaken"), states(both / "complete"), strict=True):
        for name, value in one["parameters"].items():
            assert torch.equal(value, other["parameters"][name])


def test_processes_without_a_common_step_are_refused(both: Path) -> None:
    """No process resumes alone or starts over."""
    assert "process" in (both / "ruined-0.txt").read_text()
    assert "no checkpoint can be used" in (both / "ruined-1.txt").read_text()


def test_number_that_is_not_finite_stops_all_processes(both: Path) -> None:
    """Each names the step and what it sees; nothing is saved."""
    messages = [(both / f"not-finite-{rank}.txt").read_text() for rank in (0, 1)]
    assert all("task U5, epoch 1 of 2, step 2 of 2" in message for message in messages)
    assert "the norm of the gradient of" in messages[0]  # gradients are averaged
    assert "the loss term 'policy' is nan" in messages[1]
    assert not list((both / "not-finite" / "checkpoints").iterdir())


def test_averaged_gradients_equal_those_of_the_whole_batch(both: Path) -> None:
    """Two processes take half a batch each; one process takes all of it."""
    gradients(ALONE, both)
    whole = torch.load(both / "1-0.pt", weights_only=True)
    assert whole.abs().max() > 0
    for rank in (0, 1):
        torch.testing.assert_close(torch.load(both / f"2-{rank}.pt", weights_only=True), whole)


def test_run_of_two_processes_is_not_resumed_by_one(both: Path) -> None:
    """One process alone would lose a shard of the buffer."""
    folder = both / "whole"
    with pytest.raises(CheckpointError, match="expected 2 processes"):
        learn(prepare(RunFolder(folder).config(), folder, resume=True))


def test_batch_that_processes_cannot_split_is_refused() -> None:
    """All processes take the same number of instances."""
    with pytest.raises(ConfigError, match="multiple of the 3 processes, got 4"):
        Ranks(rank=0, count=3).share(4)


def test_processes_share_the_last_batch_of_an_epoch(tmp_path: Path) -> None:
    """The error names the setting of the batch that cannot be split."""
    config = tiny_config()
    tasks = tuple(attrs.evolve(task, last_batch_size=2) for task in config.tasks)
    config, folder = attrs.evolve(config, tasks=tasks), RunFolder(tmp_path / "run")
    learner = start(config, folder, Ranks(rank=1, count=2)).learner
    assert [len(learner.draw(0, step).nodes) for step in range(4)] == [2, 1, 2, 1]
    with pytest.raises(ConfigError, match="last_batch_size: expected a multiple of the 4 proc"):
        start(config, folder, Ranks(rank=0, count=4))


def test_incomplete_torchrun_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With missing variables a process would wait forever."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ConfigError, match="RANK"), joined():
        pass


def test_one_gpu_for_several_processes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """All would compute on it, and not on the GPU of their rank."""
    for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with (
        pytest.raises(ConfigError, match=r"expected cuda, so that .* got 'cuda:1'"),
        joined("cuda:1"),
    ):
        pass
